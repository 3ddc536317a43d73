import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { IconPhoto, IconPlayerStop, IconSend } from '@tabler/icons-react';
import { useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react';
import type { Turn } from './chat.js';

const IMAGE_BYTES_MAX = 4 * 1024 * 1024;

interface ComposerProps {
  /** Message that stands there at first. */
  draft: Turn;
  isRunning: boolean;
  onSend: (turn: Turn) => void;
  onStop: () => void;
}

/** Enter sends, Shift and Enter begin a line. */
export function Composer({ draft, isRunning, onSend, onStop }: ComposerProps): ReactNode {
  const [text, setText] = useState(draft.text);
  const [image, setImage] = useState<string | null>(draft.image ?? null);
  const [fault, setFault] = useState('');
  const canSend = !isRunning && (text.trim() !== '' || image !== null);
  const send = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault();
    if (!canSend) return;
    onSend({ role: 'user', text, ...(image === null ? {} : { image }) });
    setText('');
    setImage(null);
  };
  const attach = (file: File | null): void => {
    if (file === null) return;
    setFault(file.size > IMAGE_BYTES_MAX ? 'A picture may have 4 MB.' : '');
    if (file.size <= IMAGE_BYTES_MAX) void dataUrlOf(file).then(setImage);
  };
  return (
    <form onSubmit={send}>
      <Stack gap="xs">
        <Textarea
          aria-label="Message"
          placeholder="Write to all models at once"
          autosize
          minRows={2}
          maxRows={10}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event);
          }}
        />
        <Group justify="space-between">
          <Group gap="xs">
            <FileButton onChange={attach} accept="image/png,image/jpeg,image/webp,image/gif">
              {(button) => (
                <Button {...button} variant="default" size="sm" leftSection={<IconPhoto size={16} />}>
                  {image === null ? 'Attach a picture' : 'Another picture'}
                </Button>
              )}
            </FileButton>
            <Text size="sm" c="dimmed" role="status">
              {fault === '' ? (image === null ? '' : 'One picture attached') : fault}
            </Text>
          </Group>
          {isRunning ? (
            <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button type="submit" disabled={!canSend} leftSection={<IconSend size={16} />}>
              Send
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => reject(new Error('The picture cannot be read.'));
    reader.readAsDataURL(file);
  });
}
