import { Menu, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { ChangeMenu, PauseItem } from '../shell/change-menu.js';
import { Confirm } from '../shell/confirm.js';
import { useDeleteAlias, useSwitchAlias, type Alias } from './aliases.queries.js';

/** Menu of an alias. */
export function AliasActions({ alias, onEdit }: { alias: Alias; onEdit: () => void }): ReactNode {
  const { id, name, is_enabled: isOn } = alias;
  const [isAsking, { open, close }] = useDisclosure(false);
  const change = useSwitchAlias(id);
  const deletion = useDeleteAlias(id);
  return (
    <Stack gap="xs">
      <ChangeMenu name={name} isLoading={change.isPending} failure={change.error}>
        <Menu.Item onClick={onEdit}>Edit</Menu.Item>
        <PauseItem name={name} isOn={isOn} write={change} />
        <Menu.Item color="red" onClick={open}>
          Delete
        </Menu.Item>
      </ChangeMenu>
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
