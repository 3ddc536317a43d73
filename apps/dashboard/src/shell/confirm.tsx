import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
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
  /** Further fields. */
  children?: ReactNode;
}

/** Says what a write does before it is done. */
export function Confirm(props: ConfirmProps): ReactNode {
  const { title, about, action, isOpen, onClose, write, onConfirm, isDestructive = true, children } = props;
  /** Opened again it says nothing of a refusal of before. */
  const close = (): void => {
    write.reset();
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <Stack>
        <Text size="sm">{about}</Text>
        {children}
        {write.error !== null && <ProblemCard failure={write.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button color={isDestructive ? 'red' : undefined} loading={write.isPending} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
