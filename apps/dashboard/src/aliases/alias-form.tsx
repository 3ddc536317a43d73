import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { FormEnd } from '../shell/form-end.js';
import { bodyOfDraft, draftOf, shareOf, TARGETS_MAX, type TargetDraft } from './alias-draft.js';
import { useSaveAlias, type Alias } from './aliases.queries.js';
import { ModelChoice } from './model-choice.js';

interface AliasFormProps {
  org: string;
  /** The one that is changed; absent for a new one. */
  alias?: Alias;
  onClose: () => void;
}

export function AliasForm({ org, alias, onClose }: AliasFormProps): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [draft, setDraft] = useState(() => draftOf(alias));
  const save = useSaveAlias(org, alias?.id, idempotencyKey);
  const fields = save.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate(bodyOfDraft(draft), { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="Requests use it as a model, such as fast or acme/assistant"
          required
          data-autofocus
          error={fields.name}
          value={draft.name}
          onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
        />
        <Targets
          targets={draft.targets}
          errors={fields}
          onChange={(targets) => setDraft({ ...draft, targets })}
        />
        <TextInput
          label="Description"
          error={fields.description}
          value={draft.description}
          onChange={({ currentTarget }) => setDraft({ ...draft, description: currentTarget.value })}
        />
        <FormEnd write={save} action={alias === undefined ? 'Create alias' : 'Save'} />
      </Stack>
    </form>
  );
}

interface TargetsProps {
  targets: readonly TargetDraft[];
  errors: Readonly<Record<string, string>>;
  onChange: (targets: readonly TargetDraft[]) => void;
}

/** Models that the name stands for, each with its weight and the share that it makes. */
function Targets({ targets, errors, onChange }: TargetsProps): ReactNode {
  const weights = targets.map(({ weight }) => figureOf(weight));
  const change = (at: number, part: Partial<TargetDraft>): void =>
    onChange(targets.map((target, index) => (index === at ? { ...target, ...part } : target)));
  return (
    <Stack gap="xs">
      {targets.map((target, at) => (
        <Group key={at} gap="xs" wrap="nowrap" align="flex-end">
          <ModelChoice
            label={`Model ${at + 1}`}
            model={target.model}
            error={errors[`targets.${at}.model`] ?? (at === 0 ? errors.targets : undefined)}
            onChange={(model) => change(at, { model })}
          />
          <TextInput
            label={`Weight ${at + 1}`}
            inputMode="numeric"
            w={96}
            error={errors[`targets.${at}.weight`]}
            value={target.weight}
            onChange={({ currentTarget }) => change(at, { weight: currentTarget.value })}
          />
          <Text size="sm" c="dimmed" w={56} pb={8} ta="right">
            {shareOf(weights[at], weights) ?? '–'}
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            mb={4}
            aria-label={`Remove model ${at + 1}`}
            disabled={targets.length === 1}
            onClick={() => onChange(targets.filter((_, index) => index !== at))}
          >
            <IconX size={16} />
          </ActionIcon>
        </Group>
      ))}
      {targets.length < TARGETS_MAX && (
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange([...targets, { model: '', weight: '0' }])}
          >
            Add model
          </Button>
        </Group>
      )}
    </Stack>
  );
}
