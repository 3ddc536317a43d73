import { Button, Code, Group, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';

export type CopyState = 'ready' | 'copied' | 'refused';

/** Copies a text; `refused` where the browser does not let it, as on plain HTTP of another machine. */
export function useCopy(): [CopyState, (text: string) => void] {
  const [state, setState] = useState<CopyState>('ready');
  const copy = (text: string): void => {
    const attempt = async (): Promise<CopyState> => {
      try {
        await navigator.clipboard.writeText(text);
        return 'copied';
      } catch {
        return 'refused';
      }
    };
    void attempt().then(setState);
  };
  return [state, copy];
}

/** An id or a value, selectable, with a button that copies it. */
export function CopyText({ text, label }: { text: string; label: string }): ReactNode {
  const [state, copy] = useCopy();
  return (
    <Group gap={4} wrap="nowrap">
      <Code style={{ userSelect: 'all' }}>{text}</Code>
      <Button
        size="compact-xs"
        variant="subtle"
        style={{ flexShrink: 0 }}
        aria-label={`${COPY_LABELS[state]} ${label}`}
        leftSection={state === 'copied' ? <IconCheck size={12} /> : <IconCopy size={12} />}
        onClick={() => copy(text)}
      >
        {COPY_LABELS[state]}
      </Button>
      <Text span size="xs" role="status" c="dimmed">
        {state === 'refused' ? 'The browser refused; select the text instead.' : ''}
      </Text>
    </Group>
  );
}

export const COPY_LABELS: Record<CopyState, string> = { ready: 'Copy', copied: 'Copied', refused: 'Copy' };
