import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { ProblemCard } from './problem-card.js';

interface ConfirmProps {
  title: string;
  /** Effects of the action. */
  about: ReactNode;
  /** Text of the button. */
  action: string;
  isOpen: boolean;
  onClose: () => void;
  write: { error: Problem | null; isPending: boolean; reset: () => void };
  onConfirm: () => void;
  /** False for what takes nothing away. */
  isDestructive?: boolean;
  /** Name that has to be typed before the action is open; absent = none. */
  typed?: string | undefined;
  /** Further fields. */
  children?: ReactNode;
}

/** Says what a write does before it is done. */
export function Confirm(props: ConfirmProps): ReactNode {
  const {
    title,
    about,
    action,
    isOpen,
    onClose,
    write,
    onConfirm,
    isDestructive = true,
    typed,
    children,
  } = props;
  const [text, setText] = useState('');
  /** Opened again it says nothing of a rejection of before. */
  const close = (): void => {
    write.reset();
    setText('');
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <Stack>
        <Text size="sm">{about}</Text>
        {children}
        {typed !== undefined && (
          <TextInput
            label={`Type ${typed} to confirm`}
            autoComplete="off"
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
        {write.error !== null && <ProblemCard failure={write.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            color={isDestructive ? 'red' : undefined}
            loading={write.isPending}
            disabled={typed !== undefined && text.trim() !== typed}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
