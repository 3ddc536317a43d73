import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useModelChoices } from './aliases.queries.js';

const SEARCH_AFTER_MS = 300;

interface ModelChoiceProps {
  label: string;
  model: string;
  error: string | undefined;
  onChange: (model: string) => void;
}

/** A model of the catalogue, found by a search. */
export function ModelChoice({ label, model, error, onChange }: ModelChoiceProps): ReactNode {
  const [q, setQ] = useState('');
  const [searched] = useDebouncedValue(q, SEARCH_AFTER_MS);
  // The chosen one stands in the field, and is no search.
  const found = useModelChoices(searched === model ? '' : searched).data ?? [];
  return (
    <Select
      label={label}
      style={{ flex: 1, minWidth: 0 }}
      searchable
      searchValue={q}
      onSearchChange={setQ}
      data={[...new Set([...(model === '' ? [] : [model]), ...found])]}
      nothingFoundMessage="No model of this name"
      error={error}
      value={model === '' ? null : model}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}
