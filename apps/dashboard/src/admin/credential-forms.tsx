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

interface Named {
  label: string;
  weight: string;
  rpm: string;
  tpm: string;
}

interface NamedFieldsProps {
  value: Named;
  onChange: (next: Named) => void;
  fields: Readonly<Record<string, string>>;
}

const FIGURES = [
  {
    of: 'weight',
    label: 'Weight',
    about: 'Share of the requests; 0 serves where no other can',
    field: 'weight',
  },
  { of: 'rpm', label: 'Requests a minute', about: 'Over all edges; empty for no limit', field: 'rpm_limit' },
  { of: 'tpm', label: 'Tokens a minute', about: 'Over all edges; empty for no limit', field: 'tpm_limit' },
] as const;

function NamedFields({ value, onChange, fields }: NamedFieldsProps): ReactNode {
  return (
    <>
      <TextInput
        label="Label"
        required
        data-autofocus
        error={fields.label}
        value={value.label}
        onChange={({ currentTarget }) => onChange({ ...value, label: currentTarget.value })}
      />
      {FIGURES.map(({ of, label, about, field }) => (
        <TextInput
          key={of}
          label={label}
          description={about}
          inputMode="numeric"
          error={fields[field]}
          value={value[of]}
          onChange={({ currentTarget }) => onChange({ ...value, [of]: currentTarget.value })}
        />
      ))}
    </>
  );
}

/** Returns the limits to send: those that differ from what is there. */
function limitsOf(typed: Named, { rpm_limit, tpm_limit }: Pick<Credential, 'rpm_limit' | 'tpm_limit'>) {
  const rpm = typed.rpm.trim() === '' ? null : figureOf(typed.rpm);
  const tpm = typed.tpm.trim() === '' ? null : figureOf(typed.tpm);
  return {
    ...(rpm === rpm_limit ? {} : { rpm_limit: rpm }),
    ...(tpm === tpm_limit ? {} : { tpm_limit: tpm }),
  };
}

const NO_LIMITS = { rpm_limit: null, tpm_limit: null };

/** Form of a new credential. The provider is asked first: one that it refuses is not saved. */
export function AddCredential({ slug, onClose }: { slug: string; onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [named, setNamed] = useState({ label: '', weight: '', rpm: '', tpm: '' });
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
    const limits = limitsOf(named, NO_LIMITS);
    const body = { label: named.label.trim(), credentials, ...weight, ...limits, skip_test: isUntested };
    add.mutate(body, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <NamedFields value={named} onChange={setNamed} fields={fields} />
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

/** Form of the label, the weight and the limits of a credential. */
export function EditCredential({ credential, onClose }: FormProps): ReactNode {
  const [named, setNamed] = useState({
    label: credential.label,
    weight: String(credential.weight),
    rpm: String(credential.rpm_limit ?? ''),
    tpm: String(credential.tpm_limit ?? ''),
  });
  const change = useChangeCredential(credential);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = {
      label: named.label.trim(),
      weight: figureOf(named.weight),
      ...limitsOf(named, credential),
    };
    change.mutate(body, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <NamedFields value={named} onChange={setNamed} fields={change.error?.fields ?? {}} />
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
