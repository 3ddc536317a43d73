import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { Confirm } from '../shell/confirm.js';
import { FormEnd } from '../shell/form-end.js';
import { useOrg } from '../shell/org.queries.js';
import { useChangeTeam, useDeleteTeam, type Team } from './teams.queries.js';

/** Name and limits of a team. An empty limit clears. */
export function TeamForm({ team }: { team: Team }): ReactNode {
  const change = useChangeTeam(team.id);
  const [name, setName] = useState(team.name);
  const [cap, setCap] = useState(team.spend_cap_usd ?? '');
  const [rpm, setRpm] = useState(String(team.rpm_limit ?? ''));
  const fields = change.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate({
      ...(name.trim() === team.name ? {} : { name: name.trim() }),
      spend_cap_usd: cap.trim() === '' ? null : cap.trim(),
      rpm_limit: rpm.trim() === '' ? null : figureOf(rpm),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group align="flex-start">
          <TextInput
            label="Name"
            required
            error={fields.name}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <TextInput
            label="Spend cap of 30 days, USD"
            inputMode="decimal"
            error={fields.spend_cap_usd}
            value={cap}
            onChange={({ currentTarget }) => setCap(currentTarget.value)}
          />
          <TextInput
            label="Requests a minute"
            inputMode="numeric"
            error={fields.rpm_limit}
            value={rpm}
            onChange={({ currentTarget }) => setRpm(currentTarget.value)}
          />
        </Group>
        <FormEnd
          write={change}
          action="Save"
          said={change.isSuccess ? 'Saved.' : ''}
          draft={{ name, cap, rpm }}
        />
      </Stack>
    </form>
  );
}

/** Button that deletes a team once it was confirmed. */
export function DeleteTeam({ team }: { team: Team }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  const { slug } = useOrg();
  const navigate = useNavigate();
  const remove = useDeleteTeam(team.id);
  return (
    <>
      <Button variant="light" color="red" onClick={open}>
        Delete
      </Button>
      <Confirm
        title="Delete the team"
        about={`${team.name} goes with its limits; its people stay in the organization. It may have no active key: move or suspend those first.`}
        action="Delete the team"
        isOpen={isOpen}
        onClose={close}
        write={remove}
        onConfirm={() =>
          remove.mutate(undefined, { onSuccess: () => void navigate({ to: `/o/${slug}/teams` }) })
        }
      />
    </>
  );
}
