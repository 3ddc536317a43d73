import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ProblemCard } from '../shell/problem-card.js';
import { useChangeMember, useRemoveMember, type Member } from './members.queries.js';

/** The owner's role is handed on by the owner alone, elsewhere. */
const ROLES = [
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
];

export function MemberActions({ org, member }: { org: string; member: Member }): ReactNode {
  const [edited, edit] = useDisclosure(false);
  const [removed, remove] = useDisclosure(false);
  return (
    <Group gap="xs" wrap="nowrap">
      <Button size="compact-sm" variant="default" aria-label={`Edit ${member.name}`} onClick={edit.open}>
        Edit
      </Button>
      {member.role !== 'owner' && (
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          aria-label={`Remove ${member.name}`}
          onClick={remove.open}
        >
          Remove
        </Button>
      )}
      <Modal opened={edited} onClose={edit.close} title={member.name}>
        <Edit org={org} member={member} onClose={edit.close} />
      </Modal>
      <Modal opened={removed} onClose={remove.close} title={`Remove ${member.name}`}>
        <Remove org={org} member={member} onClose={remove.close} />
      </Modal>
    </Group>
  );
}

interface ContentProps {
  org: string;
  member: Member;
  onClose: () => void;
}

/** An empty field clears: no cap, no limit of their own. */
function Edit({ org, member, onClose }: ContentProps): ReactNode {
  const change = useChangeMember(org, member.user_id);
  const [role, setRole] = useState<string>(member.role);
  const [cap, setCap] = useState(member.spend_cap_usd ?? '');
  const [rpm, setRpm] = useState(String(member.rpm_limit ?? ''));
  const fields = change.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate(
      {
        ...(role === member.role ? {} : { role: role === 'admin' ? 'admin' : 'member' }),
        spend_cap_usd: cap.trim() === '' ? null : cap.trim(),
        rpm_limit: rpm.trim() === '' ? null : Number(rpm),
      },
      { onSuccess: onClose },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {member.role !== 'owner' && (
          <Select
            label="Role"
            data={ROLES}
            allowDeselect={false}
            value={role}
            onChange={(value) => setRole(value ?? member.role)}
          />
        )}
        <TextInput
          label="Spend cap, USD"
          description="Of all their keys in 30 days; empty = none"
          inputMode="decimal"
          error={fields.spend_cap_usd}
          value={cap}
          onChange={({ currentTarget }) => setCap(currentTarget.value)}
        />
        <TextInput
          label="Requests a minute"
          description="Of all their keys; empty = the default"
          inputMode="numeric"
          error={fields.rpm_limit}
          value={rpm}
          onChange={({ currentTarget }) => setRpm(currentTarget.value)}
        />
        {change.error !== null && <ProblemCard failure={change.error} />}
        <Buttons onClose={onClose}>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
        </Buttons>
      </Stack>
    </form>
  );
}

function Remove({ org, member, onClose }: ContentProps): ReactNode {
  const remove = useRemoveMember(org, member.user_id);
  return (
    <Stack>
      <Text size="sm">
        {member.name} loses access at once. Their keys keep working and count against them: suspend those that
        should stop.
      </Text>
      {remove.error !== null && <ProblemCard failure={remove.error} />}
      <Buttons onClose={onClose}>
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() => remove.mutate(undefined, { onSuccess: onClose })}
        >
          Remove
        </Button>
      </Buttons>
    </Stack>
  );
}

function Buttons({ onClose, children }: { onClose: () => void; children: ReactNode }): ReactNode {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      {children}
    </Group>
  );
}
