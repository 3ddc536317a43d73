import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { Confirm } from '../shell/confirm.js';
import { FormEnd } from '../shell/form-end.js';
import { useChangeMember, useRemoveMember, type Member } from './members.queries.js';

/** The owner's role is handed on by the owner alone, elsewhere. */
const ROLES = [
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
];

export function MemberActions({ org, member }: { org: string; member: Member }): ReactNode {
  const [edited, edit] = useDisclosure(false);
  const [removed, remove] = useDisclosure(false);
  const removal = useRemoveMember(org, member.user_id);
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
      <Confirm
        title={`Remove ${member.name}`}
        about={`${member.name} loses access at once. Their keys keep working and count against them: suspend those that should stop.`}
        action="Remove"
        isOpen={removed}
        onClose={remove.close}
        write={removal}
        onConfirm={() => removal.mutate(undefined, { onSuccess: remove.close })}
      />
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
        rpm_limit: rpm.trim() === '' ? null : figureOf(rpm),
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
        <FormEnd write={change} action="Save" draft={{ role, cap, rpm }} />
      </Stack>
    </form>
  );
}
