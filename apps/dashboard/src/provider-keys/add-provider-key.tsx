import { Button, Group, Modal, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Schemas } from '../api/schemas.js';
import { useIsBilled } from '../session/me.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { FormFailure } from '../shell/form-failure.js';
import { credentialsOf, firstSecret, SecretField } from '../shell/provider-secret.js';
import { useAddProviderKey, useProviders } from './provider-keys.queries.js';

export function AddProviderKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add a provider key">
      <Form onClose={onClose} />
    </Modal>
  );
}

interface Draft {
  provider: string;
  label: string;
  secret: string;
  mayFall: boolean;
}

/** Null where the text should be JSON and is not. */
function providerKeyBody(draft: Draft, org: string | null): Schemas['CreateProviderKeyBody'] | null {
  const credentials = credentialsOf(draft.provider, draft.secret);
  if (credentials === null) return null;
  return {
    ...(org === null ? {} : { org_id: org }),
    ...(draft.label.trim() === '' ? {} : { label: draft.label.trim() }),
    provider: draft.provider,
    credentials,
    allow_platform_fallback: draft.mayFall,
  };
}

function Form({ onClose }: { onClose: () => void }): ReactNode {
  const { id } = useOrg();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [draft, setDraft] = useState<Draft>({ provider: '', label: '', secret: '', mayFall: false });
  const [isBroken, setBroken] = useState(false);
  const add = useAddProviderKey(idempotencyKey);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = providerKeyBody(draft, id);
    setBroken(body === null);
    if (body !== null) add.mutate(body, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Fields draft={draft} onChange={setDraft} isBroken={isBroken} fields={add.error?.fields ?? {}} />
        <FormFailure failure={add.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FieldsProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
  isBroken: boolean;
  fields: Readonly<Record<string, string>>;
}

function Fields({ draft, onChange, isBroken, fields }: FieldsProps): ReactNode {
  const providers = useProviders().data ?? [];
  const isBilled = useIsBilled();
  return (
    <>
      <Select
        label="Provider"
        searchable
        data={providers.map(({ provider, name }) => ({ value: provider, label: name }))}
        error={fields.provider}
        value={draft.provider}
        onChange={(provider) =>
          onChange({ ...draft, provider: provider ?? '', secret: firstSecret(provider ?? '') })
        }
      />
      <SecretField
        provider={draft.provider}
        value={draft.secret}
        onChange={(secret) => onChange({ ...draft, secret })}
        error={isBroken ? 'This is not JSON.' : fields.credentials}
      />
      <TextInput
        label="Label"
        error={fields.label}
        value={draft.label}
        onChange={({ currentTarget }) => onChange({ ...draft, label: currentTarget.value })}
      />
      <Switch
        label="Fall back to the platform’s own key"
        description={`A request that this key does not serve is then served${isBilled ? ' and billed to the balance' : ''}`}
        checked={draft.mayFall}
        onChange={({ currentTarget }) => onChange({ ...draft, mayFall: currentTarget.checked })}
      />
    </>
  );
}
