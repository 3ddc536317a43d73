import { Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { FormEnd } from '../shell/form-end.js';
import { useOrg } from '../shell/org.queries.js';
import { useChangeKey, useKeyOwners, usePinnable, usePolicyNames, type Key } from './keys.queries.js';
import { routingChangeOf, routingDraftOf, type RoutingDraft } from './routing-draft.js';

const ENDS = [
  { value: '', label: 'As it is' },
  { value: 'never', label: 'Never' },
  { value: '1', label: 'In a day' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
];

/** Team, routing and defaults of a key. */
export default function RoutingForm({ record }: { record: Key }): ReactNode {
  // What is read anew meanwhile does not undo what was typed.
  const [before, setBefore] = useState(() => routingDraftOf(record));
  const [draft, setDraft] = useState(before);
  const save = useChangeKey(record.id);
  const isChanged = Object.keys(routingChangeOf(before, draft, 0)).length > 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const onSuccess = (saved: Key): void => {
      setBefore(routingDraftOf(saved));
      setDraft(routingDraftOf(saved));
    };
    save.mutate(routingChangeOf(before, draft, Date.now()), { onSuccess });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Choices
          record={record}
          draft={draft}
          onChange={(part) => setDraft({ ...draft, ...part })}
          errors={save.error?.fields ?? {}}
        />
        <FormEnd
          write={save}
          action="Update routing"
          said={save.isSuccess && !isChanged ? 'Saved. It holds for the next request.' : ''}
          isDisabled={!isChanged}
        />
      </Stack>
    </form>
  );
}

interface ChoicesProps {
  record: Key;
  draft: RoutingDraft;
  onChange: (part: Partial<RoutingDraft>) => void;
  errors: Readonly<Record<string, string>>;
}

type Choice = 'team_id' | 'routing_policy_template_id' | 'fixed_provider';

function Choices({ record, draft, onChange, errors }: ChoicesProps): ReactNode {
  const { id: org } = useOrg();
  const teams = (useKeyOwners(org).data?.teams ?? []).filter(({ org_id: of }) => of === org);
  const policies = usePolicyNames(org).data ?? [];
  const providers = usePinnable().data ?? [];
  const choice = (
    field: Choice,
    label: string,
    none: string,
    all: { value: string; label: string }[],
  ): ReactNode => (
    <Select
      label={label}
      searchable
      allowDeselect={false}
      data={[{ value: '', label: none }, ...withChosen(all, draft[field])]}
      error={errors[field]}
      value={draft[field]}
      onChange={(value) => onChange({ [field]: value ?? '' })}
    />
  );
  const named = (rows: readonly { id: string; name: string }[]): { value: string; label: string }[] =>
    rows.map(({ id, name }) => ({ value: id, label: name }));
  const ownPolicy = record.routing_policy === null ? 'None' : "The key's own, set by the API";
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {org !== null && choice('team_id', 'Team', 'No team', named(teams))}
        {org !== null && choice('routing_policy_template_id', 'Routing policy', ownPolicy, named(policies))}
        {choice(
          'fixed_provider',
          'Only this provider',
          'Any provider',
          providers.map(({ provider, name }) => ({ value: provider, label: name })),
        )}
        <TextInput
          label="Default model"
          placeholder="not set"
          error={errors.default_model}
          value={draft.default_model}
          onChange={({ currentTarget }) => onChange({ default_model: currentTarget.value })}
        />
        <TextInput
          label="Cache answers, seconds"
          placeholder="off"
          inputMode="numeric"
          error={errors['response_cache.ttl_seconds'] ?? errors.response_cache}
          value={draft.cache_seconds}
          onChange={({ currentTarget }) => onChange({ cache_seconds: currentTarget.value })}
        />
        <Select
          label="Expires"
          allowDeselect={false}
          data={ENDS}
          error={errors.expires_at}
          value={draft.expires}
          onChange={(expires) => onChange({ expires: expires ?? '' })}
        />
      </SimpleGrid>
      <TagsInput
        label="Tags of its requests"
        description="Each as name=value, such as team=search"
        error={errors.request_tags}
        value={draft.tags}
        onChange={(tags) => onChange({ tags })}
      />
    </>
  );
}

/** Returns the choices with the one that is set, also where it is not among those that were read. */
function withChosen(
  all: { value: string; label: string }[],
  chosen: string,
): { value: string; label: string }[] {
  const isKnown = chosen === '' || all.some(({ value }) => value === chosen);
  return isKnown ? all : [...all, { value: chosen, label: chosen }];
}
