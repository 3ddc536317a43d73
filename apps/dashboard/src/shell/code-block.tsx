import { ActionIcon, Box, Code, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useCopy } from './copy-text.js';

/** Shade that differs from a panel in both schemes. */
const LOOK = {
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  background: 'var(--mantine-color-default-hover)',
} as const;

/** Code whose long lines wrap, with a button that copies it as it is. */
export function CodeBlock({ code, label }: { code: string; label: string }): ReactNode {
  const [state, copy] = useCopy();
  const hint = state === 'copied' ? 'Copied' : state === 'refused' ? 'The browser refused' : 'Copy';
  return (
    <Box pos="relative">
      <Code block role="region" aria-label={label} p="md" pr={56} fz="sm" style={LOOK}>
        {code}
      </Code>
      <Tooltip label={hint}>
        <ActionIcon
          variant="default"
          pos="absolute"
          top={8}
          right={8}
          aria-label={`${hint}: ${label}`}
          onClick={() => copy(code)}
        >
          {state === 'copied' ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
    </Box>
  );
}
