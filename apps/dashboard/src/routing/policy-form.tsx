import {
  Button,
  Group,
  MultiSelect,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { FormFailure } from '../shell/form-failure.js';
import { bodyOfDraft, COUNTS, draftOf, PRICES, type PolicyDraft, type Sort } from './policy-draft.js';
import { ProviderOrder } from './provider-order.js';
import { useProviders, useSavePolicy, type PolicyTemplate } from './routing.queries.js';

const SORTS: readonly { value: Sort; label: string }[] = [
  { value: 'balanced', label: 'Balanced' },
  { value: 'price', label: 'Lowest price' },
  { value: 'latency', label: 'Lowest latency' },
  { value: 'throughput', label: 'Highest throughput' },
];
const FIGURE_LABELS = {
  max_retries: 'Retries',
  attempt_timeout_ms: 'Wait an attempt, ms',
  total_timeout_ms: 'Wait in all, ms',
  prompt_usd_per_1m: 'Max input price, USD per 1M tokens',
  completion_usd_per_1m: 'Max output price, USD per 1M tokens',
} as const;

interface PolicyFormProps {
  org: string;
  template: PolicyTemplate | undefined;
  onClose: () => void;
}

export function PolicyForm({ org, template, onClose }: PolicyFormProps): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [from] = useState(template?.routing_policy ?? {});
  const [draft, setDraft] = useState(() => draftOf(template?.name ?? '', from));
  const save = useSavePolicy(org, template?.id, idempotencyKey);
  const change = (part: Partial<PolicyDraft>): void => setDraft({ ...draft, ...part });
  const errors = inner(save.error?.fields ?? {});
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate(bodyOfDraft(draft, from), { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          data-autofocus
          required
          error={errors.name}
          value={draft.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        />
        <Providers draft={draft} errors={errors} change={change} />
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
          {[...COUNTS, ...PRICES].map((field) => (
            <TextInput
              key={field}
              label={FIGURE_LABELS[field]}
              placeholder="default"
              inputMode="decimal"
              error={errors[field]}
              value={draft[field]}
              onChange={({ currentTarget }) => change({ [field]: currentTarget.value })}
            />
          ))}
        </SimpleGrid>
        <Switch
          label="Fall back to the next provider"
          checked={draft.allow_fallbacks}
          onChange={({ currentTarget }) => change({ allow_fallbacks: currentTarget.checked })}
        />
        <Switch
          label="Only providers that keep nothing"
          checked={draft.require_zero_retention}
          onChange={({ currentTarget }) => change({ require_zero_retention: currentTarget.checked })}
        />
        <FormFailure failure={save.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ProvidersProps {
  draft: PolicyDraft;
  errors: Readonly<Record<string, string>>;
  change: (part: Partial<PolicyDraft>) => void;
}

function Providers({ draft, errors, change }: ProvidersProps): ReactNode {
  const found = useProviders().data ?? [];
  const providers = found.map(({ provider, name }) => ({ value: provider, label: name }));
  const choice = (field: 'only_providers' | 'ignore_providers', label: string): ReactNode => (
    <MultiSelect
      label={label}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
      error={errors[field]}
      // One that is no longer offered stays in the policy until it is taken out.
      data={[...providers, ...unknown(draft[field], providers)]}
      value={draft[field]}
      onChange={(chosen) => change({ [field]: chosen })}
    />
  );
  return (
    <>
      <Select
        label="Prefer"
        placeholder="default"
        clearable
        clearButtonProps={{ 'aria-label': 'Clear what is preferred' }}
        data={SORTS}
        value={draft.sort}
        onChange={(sort) => change({ sort: SORTS.find(({ value }) => value === sort)?.value ?? null })}
      />
      <ProviderOrder
        order={draft.provider_order}
        providers={providers}
        error={errors.provider_order}
        onChange={(order) => change({ provider_order: order })}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {choice('only_providers', 'Allowed providers')}
        {choice('ignore_providers', 'Blocked providers')}
        <TagsInput
          label="Fallback models"
          description="In this order, where no provider serves the first"
          error={errors.fallback_models}
          value={draft.fallback_models}
          onChange={(models) => change({ fallback_models: models })}
        />
        <TagsInput
          label="Regions"
          description="As providers name them; empty = any"
          error={errors.regions}
          value={draft.regions}
          onChange={(regions) => change({ regions })}
        />
      </SimpleGrid>
    </>
  );
}

function unknown(
  chosen: readonly string[],
  known: readonly { value: string }[],
): { value: string; label: string }[] {
  return chosen
    .filter((one) => !known.some(({ value }) => value === one))
    .map((value) => ({ value, label: value }));
}

/** A fault is named by its whole path in the body; the form knows the last name only. */
function inner(fields: Readonly<Record<string, string>>): Record<string, string> {
  const last = (path: string): string => path.split('.').findLast((part) => !/^\d+$/.test(part)) ?? path;
  return Object.fromEntries(Object.entries(fields).map(([path, text]) => [last(path), text]));
}
