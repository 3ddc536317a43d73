import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useInvite } from './members.queries.js';

const ROLES = [
  { value: 'member', label: 'Member: own keys and own usage' },
  { value: 'admin', label: 'Admin: everything but the organization itself' },
];

interface InvitePersonProps {
  org: string;
  isOpen: boolean;
  onClose: () => void;
}

export function InvitePerson({ org, isOpen, onClose }: InvitePersonProps): ReactNode {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Invite a person">
      <Form org={org} onClose={onClose} />
    </Modal>
  );
}

function Form({ org, onClose }: { org: string; onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<'admin' | 'member'>('member');
  const invite = useInvite(org, idempotencyKey);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    invite.mutate({ email: email.trim(), role }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="E-mail address"
          description="They get a link that is good for some days"
          type="email"
          data-autofocus
          error={invite.error?.fields.email}
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <Select
          label="Role"
          data={ROLES}
          allowDeselect={false}
          value={role}
          onChange={(value) => setRole(value === 'admin' ? 'admin' : 'member')}
        />
        {invite.error !== null && <ProblemCard failure={invite.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Invite
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
