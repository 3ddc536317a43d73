import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { Confirm } from '../shell/confirm.js';
import { FormEnd } from '../shell/form-end.js';
import { Panel } from '../shell/panel.js';
import { useChangeOrg, useRemoveContents, type Org } from './settings.queries.js';

/** Form for logged prompts and answers: whether, for how long, and how much is masked. */
export function RequestLogging({ org }: { org: Org }): ReactNode {
  const [logging, setLogging] = useState(org.request_logging);
  const [days, setDays] = useState(String(org.request_logging.retention_days));
  const save = useChangeOrg(org.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate({ request_logging: { ...logging, retention_days: figureOf(days) } });
  };
  return (
    <Panel
      title="Request logging"
      about="Prompts and answers, for owners and admins, and for members those of their own keys. Each look is in the audit log."
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Switch
            label="Keep prompts and answers"
            checked={logging.enabled}
            onChange={({ currentTarget }) => setLogging({ ...logging, enabled: currentTarget.checked })}
          />
          <TextInput
            label="Days to keep them"
            description="1 to 90. Fewer days remove what is older at once; more act on what is written from now on."
            inputMode="numeric"
            error={save.error?.fields['request_logging.retention_days'] ?? save.error?.fields.retention_days}
            value={days}
            onChange={({ currentTarget }) => setDays(currentTarget.value)}
          />
          <Switch
            label="Mask personal data"
            description="Addresses of mail, numbers of cards, accounts and telephones. Credentials are always masked."
            checked={logging.redact}
            onChange={({ currentTarget }) => setLogging({ ...logging, redact: currentTarget.checked })}
          />
          <FormEnd
            write={save}
            action="Save logging"
            said={save.isSuccess ? 'From the next request on' : ''}
            draft={{ logging, days }}
          />
        </Stack>
      </form>
      <Removal org={org.id} />
    </Panel>
  );
}

function Removal({ org }: { org: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const remove = useRemoveContents(org);
  const close = (): void => setOpen(false);
  return (
    <Group mt="md">
      <Button variant="light" color="red" onClick={() => setOpen(true)}>
        {remove.isSuccess ? 'Removed' : 'Remove what was kept'}
      </Button>
      <Confirm
        title="Remove what was kept"
        about="Every prompt and answer that was logged so far goes, at once and for good. Usage and cost stay."
        action="Remove"
        isOpen={isOpen}
        onClose={close}
        write={remove}
        onConfirm={() => remove.mutate(undefined, { onSuccess: close })}
      />
    </Group>
  );
}
