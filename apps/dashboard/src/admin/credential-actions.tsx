import { Menu, Modal, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ChangeMenu, PauseItem } from '../shell/change-menu.js';
import { Confirm } from '../shell/confirm.js';
import { SecretTest } from '../shell/provider-secret.js';
import { EditCredential, RotateCredential } from './credential-forms.js';
import {
  useChangeCredential,
  useRemoveCredential,
  useTestCredential,
  type Credential,
} from './credentials.queries.js';

type Opened = 'edit' | 'rotate' | 'test' | 'remove' | null;

/** Menu of a credential. That of the environment is changed where it stands: it is neither rotated nor removed here. */
export function CredentialActions({ credential }: { credential: Credential }): ReactNode {
  const [opened, open] = useState<Opened>(null);
  const { label, source, is_enabled: isOn } = credential;
  const change = useChangeCredential(credential);
  const removal = useRemoveCredential(credential);
  const close = (): void => open(null);
  return (
    <Stack gap="xs">
      <ChangeMenu name={label} isLoading={change.isPending} failure={change.error}>
        <Menu.Item onClick={() => open('edit')}>Label, weight and limits</Menu.Item>
        <Menu.Item onClick={() => open('test')}>Test</Menu.Item>
        <PauseItem name={label} isOn={isOn} write={change} />
        {source === 'stored' && <Menu.Item onClick={() => open('rotate')}>Rotate</Menu.Item>}
        {source === 'stored' && (
          <Menu.Item color="red" onClick={() => open('remove')}>
            Remove
          </Menu.Item>
        )}
      </ChangeMenu>
      <Modal opened={opened === 'edit'} onClose={close} title={label}>
        <EditCredential credential={credential} onClose={close} />
      </Modal>
      <Modal opened={opened === 'rotate'} onClose={close} title={`Rotate ${label}`}>
        <RotateCredential credential={credential} onClose={close} />
      </Modal>
      <Modal opened={opened === 'test'} onClose={close} title={`Test ${label}`}>
        <Test credential={credential} />
      </Modal>
      <Confirm
        title={`Remove ${label}`}
        about="Requests go to the other credentials of the provider. Without another one its models cannot be called."
        action="Remove"
        isOpen={opened === 'remove'}
        onClose={close}
        write={removal}
        onConfirm={() => removal.mutate(undefined, { onSuccess: close })}
      />
    </Stack>
  );
}

function Test({ credential }: { credential: Credential }): ReactNode {
  const test = useTestCredential(credential);
  return <SecretTest about="One cheap call to the provider with this credential." test={test} />;
}
