import { ActionIcon, Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { FormFailure } from '../shell/form-failure.js';
import {
  bodyOfDraft,
  draftOf,
  variableNames,
  variableOf,
  type DraftMessage,
  type PromptDraft,
  type PromptRole,
  type VariableType,
} from './draft.js';
import { useAddVersion, type Version } from './prompts.queries.js';

const ROLES: readonly PromptRole[] = ['system', 'developer', 'user', 'assistant'];
const TYPES: readonly VariableType[] = ['string', 'number', 'boolean', 'json'];

interface VersionFormProps {
  templateId: string;
  /** The newest version, which the next one begins as. */
  newest: Version | undefined;
}

/** The next version. What is saved is a draft until it is published. */
export function VersionForm({ templateId, newest }: VersionFormProps): ReactNode {
  const [before] = useState(() => draftOf(newest));
  const [draft, setDraft] = useState<PromptDraft>(before);
  const add = useAddVersion(templateId);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate(bodyOfDraft(draft, newest));
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Messages messages={draft.messages} onChange={(messages) => setDraft({ ...draft, messages })} />
        <Variables draft={draft} onChange={setDraft} />
        <TextInput
          label="Notes"
          placeholder="What changed"
          error={add.error?.fields.notes}
          value={draft.notes}
          onChange={({ currentTarget }) => setDraft({ ...draft, notes: currentTarget.value })}
        />
        <FormFailure failure={add.error} />
        <Group justify="flex-end">
          <Button type="submit" disabled={draft === before} loading={add.isPending}>
            Save as a new version
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface MessagesProps {
  messages: readonly DraftMessage[];
  onChange: (messages: DraftMessage[]) => void;
}

function Messages({ messages, onChange }: MessagesProps): ReactNode {
  const change = (at: number, part: Partial<DraftMessage>): void =>
    onChange(messages.map((message, index) => (index === at ? { ...message, ...part } : message)));
  return (
    <>
      {messages.map(({ role, text }, at) => (
        // A message has no name but its place.
        <Stack key={at} gap={4}>
          <Group justify="space-between">
            <Select
              aria-label={`Role of message ${at + 1}`}
              size="xs"
              w={130}
              data={[...ROLES]}
              allowDeselect={false}
              value={role}
              onChange={(value) => change(at, { role: ROLES.find((one) => one === value) ?? 'user' })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove message ${at + 1}`}
              disabled={messages.length === 1}
              onClick={() => onChange(messages.filter((_, index) => index !== at))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
          <Textarea
            aria-label={`Text of message ${at + 1}`}
            placeholder="Text, with {{variables}}"
            autosize
            minRows={3}
            maxRows={16}
            ff="monospace"
            value={text}
            onChange={({ currentTarget }) => change(at, { text: currentTarget.value })}
          />
        </Stack>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...messages, { role: 'user', text: '' }])}
        >
          Add message
        </Button>
      </Group>
    </>
  );
}

interface VariablesProps {
  draft: PromptDraft;
  onChange: (draft: PromptDraft) => void;
}

/** One row for each variable that the texts name. */
function Variables({ draft, onChange }: VariablesProps): ReactNode {
  const names = variableNames(draft.messages);
  if (names.length === 0) return null;
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        Variables
      </Text>
      {names.map((name) => {
        const variable = variableOf(draft, name);
        const change = (part: Partial<typeof variable>): void =>
          onChange({ ...draft, variables: { ...draft.variables, [name]: { ...variable, ...part } } });
        return (
          <Group key={name} gap="xs">
            <Text size="sm" ff="monospace" w={130} truncate>
              {name}
            </Text>
            <Select
              aria-label={`Type of ${name}`}
              size="xs"
              w={110}
              data={[...TYPES]}
              allowDeselect={false}
              value={variable.type}
              onChange={(value) => change({ type: TYPES.find((one) => one === value) ?? 'string' })}
            />
            <TextInput
              aria-label={`Default of ${name}`}
              size="xs"
              flex="1 1 160px"
              placeholder="required: no default"
              value={variable.fallback}
              onChange={({ currentTarget }) => change({ fallback: currentTarget.value })}
            />
          </Group>
        );
      })}
    </Stack>
  );
}
