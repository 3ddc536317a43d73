import { Button, Menu, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Confirm } from '../shell/confirm.js';
import { ProblemCard } from '../shell/problem-card.js';
import { offerUndo } from '../shell/undo.js';
import { useDeleteAlias, useSwitchAlias, type Alias } from './aliases.queries.js';

/** Menu of an alias. */
export function AliasActions({ alias, onEdit }: { alias: Alias; onEdit: () => void }): ReactNode {
  const { id, name, is_enabled: isOn } = alias;
  const [isAsking, { open, close }] = useDisclosure(false);
  const change = useSwitchAlias(id);
  const deletion = useDeleteAlias(id);
  const toggle = (): void =>
    change.mutate(!isOn, {
      onSuccess: () =>
        offerUndo(`${name} is ${isOn ? 'paused' : 'resumed'}.`, () => change.mutateAsync(isOn)),
    });
  return (
    <Stack gap="xs">
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            loading={change.isPending}
            aria-label={`Change ${name}`}
            rightSection={<IconChevronDown size={14} />}
          >
            Change
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onEdit}>Edit</Menu.Item>
          <Menu.Item onClick={toggle}>{isOn ? 'Pause' : 'Resume'}</Menu.Item>
          <Menu.Item color="red" onClick={open}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {change.error !== null && <ProblemCard failure={change.error} />}
      <Confirm
        title={`Delete ${name}`}
        about="Requests that name it are answered as of an unknown model from now on."
        action="Delete"
        isOpen={isAsking}
        onClose={close}
        write={deletion}
        onConfirm={() => deletion.mutate(undefined, { onSuccess: close })}
      />
    </Stack>
  );
}
