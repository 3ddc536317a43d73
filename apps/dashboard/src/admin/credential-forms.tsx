import { Stack, Switch, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { FormEnd } from '../shell/form-end.js';
import { credentialsOf, firstSecret, SecretField } from '../shell/provider-secret.js';
import {
  useAddCredential,
  useChangeCredential,
  useRotateCredential,
  type Credential,
} from './credentials.queries.js';

interface FormProps {
  credential: Credential;
  onClose: () => void;
}

interface LabelAndWeightProps {
  label: string;
  weight: string;
  onChange: (next: { label: string; weight: string }) => void;
  fields: Readonly<Record<string, string>>;
}

function LabelAndWeight({ label, weight, onChange, fields }: LabelAndWeightProps): ReactNode {
  return (
    <>
      <TextInput
        label="Label"
        required
        data-autofocus
        error={fields.label}
        value={label}
        onChange={({ currentTarget }) => onChange({ label: currentTarget.value, weight })}
      />
      <TextInput
        label="Weight"
        description="Share of the requests; 0 serves where no other can"
        inputMode="numeric"
        error={fields.weight}
        value={weight}
        onChange={({ currentTarget }) => onChange({ label, weight: currentTarget.value })}
      />
    </>
  );
}

/** Form of a new credential. The provider is asked first: one that it refuses is not saved. */
export function AddCredential({ slug, onClose }: { slug: string; onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [named, setNamed] = useState({ label: '', weight: '' });
  const [secret, setSecret] = useState(() => firstSecret(slug));
  const [isUntested, setUntested] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const add = useAddCredential(slug, idempotencyKey);
  const fields = add.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const credentials = credentialsOf(slug, secret);
    setBroken(credentials === null);
    if (credentials === null) return;
    const weight = named.weight.trim() === '' ? {} : { weight: figureOf(named.weight) };
    const body = { label: named.label.trim(), credentials, ...weight, skip_test: isUntested };
    add.mutate(body, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <LabelAndWeight {...named} onChange={setNamed} fields={fields} />
        <SecretField
          provider={slug}
          value={secret}
          onChange={setSecret}
          error={isBroken ? 'This is not JSON.' : fields.credentials}
        />
        <Switch
          label="Save without a test call"
          checked={isUntested}
          onChange={({ currentTarget }) => setUntested(currentTarget.checked)}
        />
        <FormEnd write={add} action="Add credential" />
      </Stack>
    </form>
  );
}

/** Form of the label and the weight of a credential. */
export function EditCredential({ credential, onClose }: FormProps): ReactNode {
  const [named, setNamed] = useState({ label: credential.label, weight: String(credential.weight) });
  const change = useChangeCredential(credential);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = { label: named.label.trim(), weight: figureOf(named.weight) };
    change.mutate(body, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <LabelAndWeight {...named} onChange={setNamed} fields={change.error?.fields ?? {}} />
        <FormEnd write={change} action="Save" />
      </Stack>
    </form>
  );
}

/** Form of another secret in place of the one of a credential. Requests under way end on the old one. */
export function RotateCredential({ credential, onClose }: FormProps): ReactNode {
  const [secret, setSecret] = useState(() => firstSecret(credential.provider));
  const [isBroken, setBroken] = useState(false);
  const rotate = useRotateCredential(credential);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const credentials = credentialsOf(credential.provider, secret);
    setBroken(credentials === null);
    if (credentials !== null) rotate.mutate({ credentials }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <SecretField
          provider={credential.provider}
          value={secret}
          onChange={setSecret}
          error={isBroken ? 'This is not JSON.' : rotate.error?.fields.credentials}
        />
        <FormEnd write={rotate} action="Rotate" />
      </Stack>
    </form>
  );
}
