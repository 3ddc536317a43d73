import { Button, Menu } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { ProblemCard } from './problem-card.js';
import { offerUndo } from './undo.js';

interface ChangeMenuProps {
  /** Name of the thing that its items change. */
  name: string;
  isLoading: boolean;
  /** Failure of an item that asks nothing before it writes. */
  failure: Problem | null;
  /** Items of the menu. */
  children: ReactNode;
}

/** Menu of one row of a list, and the failure of an item below it. */
export function ChangeMenu({ name, isLoading, failure, children }: ChangeMenuProps): ReactNode {
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            loading={isLoading}
            aria-label={`Change ${name}`}
            rightSection={<IconChevronDown size={14} />}
          >
            Change
          </Button>
        </Menu.Target>
        <Menu.Dropdown>{children}</Menu.Dropdown>
      </Menu>
      {failure !== null && <ProblemCard failure={failure} />}
    </>
  );
}

interface PauseItemProps {
  name: string;
  isOn: boolean;
  write: {
    mutate: (change: { is_enabled: boolean }, options: { onSuccess: () => void }) => void;
    mutateAsync: (change: { is_enabled: boolean }) => Promise<unknown>;
  };
}

/** Item that pauses or resumes a thing, and offers to take that back. */
export function PauseItem({ name, isOn, write }: PauseItemProps): ReactNode {
  const toggle = (): void =>
    write.mutate(
      { is_enabled: !isOn },
      {
        onSuccess: () =>
          offerUndo(`${name} is ${isOn ? 'paused' : 'resumed'}.`, () =>
            write.mutateAsync({ is_enabled: isOn }),
          ),
      },
    );
  return <Menu.Item onClick={toggle}>{isOn ? 'Pause' : 'Resume'}</Menu.Item>;
}
