import { Alert, Button, Group, PasswordInput, Stack, Text, Textarea } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { milliseconds } from '../format/time.js';
import { ProblemCard } from './problem-card.js';

/** Providers whose credential is more than one key: it is given as JSON. */
const BY_JSON: Readonly<Record<string, string>> = {
  azure: '{"api_key": "", "endpoint": "https://", "api_version": ""}',
  'amazon-bedrock': '{"access_key_id": "", "secret_access_key": "", "region": ""}',
  'google-vertex': '{"service_account_json": "", "project": "", "location": ""}',
};

/** Returns the text that the field of a provider's credential begins with. */
export function firstSecret(provider: string): string {
  return BY_JSON[provider] ?? '';
}

/** Returns the credential as the API takes it; null where the text should be JSON and is not. */
export function credentialsOf(provider: string, text: string): Record<string, unknown> | null {
  if (!(provider in BY_JSON)) return { api_key: text.trim() };
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

interface SecretFieldProps {
  provider: string;
  value: string;
  onChange: (text: string) => void;
  error: string | undefined;
}

/** Field of a provider's credential: its key, or JSON where it is more than a key. */
export function SecretField({ provider, value, onChange, error }: SecretFieldProps): ReactNode {
  const field = {
    ...{ value, error },
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
  };
  return provider in BY_JSON ? (
    <Textarea label="Credential, as JSON" autosize minRows={4} {...field} />
  ) : (
    <PasswordInput label="API key" autoComplete="off" {...field} />
  );
}

type Test = Schemas['ProviderKeyTest'];

const VERDICTS: Record<Test['status'], { color: string; title: string }> = {
  works: { color: 'green', title: 'The provider takes the key' },
  refused: { color: 'red', title: 'The provider refuses the key' },
  unknown: { color: 'yellow', title: 'The provider did not judge the key' },
};

/** Result of a test call with a credential. */
function Verdict({ result }: { result: Test }): ReactNode {
  const { color, title } = VERDICTS[result.status];
  return (
    <Alert color={color} title={title} role="status">
      {result.error?.message ?? `It answered in ${milliseconds(result.latency_ms)}.`}
    </Alert>
  );
}

interface SecretTestProps {
  about: string;
  test: UseMutationResult<Test, Problem, void>;
}

/** Test call with a credential, and its result. */
export function SecretTest({ about, test }: SecretTestProps): ReactNode {
  return (
    <Stack>
      <Text size="sm">{about}</Text>
      {test.isSuccess && <Verdict result={test.data} />}
      {test.error !== null && <ProblemCard failure={test.error} />}
      <Group justify="flex-end">
        <Button loading={test.isPending} onClick={() => test.mutate()}>
          {test.isSuccess ? 'Test again' : 'Test'}
        </Button>
      </Group>
    </Stack>
  );
}
