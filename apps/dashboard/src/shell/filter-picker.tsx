import { Button, Popover, Select, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFilterPlus } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useOrg } from './org.queries.js';
import { useFilterChoices } from './filter-picker.queries.js';

const KINDS = [
  { value: 'model', label: 'Model' },
  { value: 'key_id', label: 'Key' },
  { value: 'member_id', label: 'Member' },
  { value: 'team_id', label: 'Team' },
  { value: 'endpoint', label: 'Endpoint' },
  { value: 'status', label: 'Outcome' },
  { value: 'tag', label: 'Tag' },
];
const STATUSES = [
  { value: 'success', label: 'Successes' },
  { value: 'error', label: 'Errors' },
];
/** Filters that are typed: nothing lists their values. */
const TYPED: Readonly<Record<string, { placeholder: string; pattern: string } | undefined>> = {
  endpoint: { placeholder: '/v1/chat/completions, then Enter', pattern: '/.{1,255}' },
  tag: { placeholder: 'feature=chat, then Enter', pattern: '[^=]{1,128}(=.*)?' },
};
type Few = readonly { value: string; label: string }[];
/** Filters of few values. */
const FEW: Readonly<Record<string, Few | undefined>> = { status: STATUSES };
const SEARCH_AFTER_MS = 300;

/** Kind of filter that one page alone has: its value is typed, or one of a few. */
export interface OwnKind {
  value: string;
  label: string;
  typed?: { placeholder: string; pattern: string };
  choices?: readonly { value: string; label: string }[];
  /** Returns what was typed as the address has it. */
  toUrl?: (text: string) => string;
}

interface FilterPickerProps {
  onPick: (filter: Record<string, string>) => void;
  /** Kind that the page filters by elsewhere. */
  without?: string;
  own?: readonly OwnKind[];
}

/** Button that adds a filter to the address: first its kind, then its value. */
export function FilterPicker({ onPick, without, own = [] }: FilterPickerProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [kind, setKind] = useState('model');
  const ownKind = own.find(({ value }) => value === kind);
  const typed = ownKind?.typed ?? TYPED[kind];
  const pick = (value: string): void => {
    setOpen(false);
    onPick({ [kind]: ownKind?.toUrl?.(value) ?? value });
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconFilterPlus size={16} />} onClick={() => setOpen(!isOpen)}>
          Filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" w={260}>
          <Select
            label="Filter by"
            data={[...KINDS, ...own.map(({ value, label }) => ({ value, label }))].filter(
              ({ value }) => value !== without,
            )}
            allowDeselect={false}
            maxDropdownHeight={360}
            comboboxProps={{ withinPortal: false }}
            value={kind}
            onChange={(next) => setKind(next ?? 'model')}
          />
          {typed === undefined ? (
            <Chosen key={kind} kind={kind} few={ownKind?.choices ?? FEW[kind]} onPick={pick} />
          ) : (
            <Typed key={kind} {...typed} onPick={pick} />
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface ChosenProps {
  kind: string;
  /** All values; undefined where they are searched for. */
  few: Few | undefined;
  onPick: (value: string) => void;
}

function Chosen({ kind, few, onPick }: ChosenProps): ReactNode {
  const { id: org } = useOrg();
  const [q, setQ] = useState('');
  const [searched] = useDebouncedValue(q, SEARCH_AFTER_MS);
  const choices = useFilterChoices(org, kind, searched);
  return (
    <Select
      label="Value"
      searchable={few === undefined}
      data={few ?? choices.data ?? []}
      comboboxProps={{ withinPortal: false }}
      value={null}
      onChange={(value) => value !== null && onPick(value)}
      onSearchChange={setQ}
      error={choices.error?.message}
      nothingFoundMessage={choices.isPending ? 'Reading…' : 'Nothing of this name'}
    />
  );
}

interface TypedProps {
  placeholder: string;
  pattern: string;
  onPick: (value: string) => void;
}

function Typed({ placeholder, pattern, onPick }: TypedProps): ReactNode {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text !== '') onPick(text);
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label="Value"
        placeholder={placeholder}
        pattern={pattern}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}
