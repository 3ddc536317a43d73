import { Select } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { useKeyChoices } from './limits.queries.js';

interface KeyChoiceProps {
  value: string | null;
  onChange: (key: string | null) => void;
  error?: string;
}

/** A key by a part of its label. */
export function KeyChoice({ value, onChange, error }: KeyChoiceProps): ReactNode {
  const { id } = useOrg();
  const [search, setSearch] = useState('');
  const keys = useKeyChoices(id, search).data?.data ?? [];
  return (
    <Select
      label="Key"
      searchable
      onSearchChange={setSearch}
      data={keys.map(({ id: key, label, masked_key: masked }) => ({ value: key, label: label ?? masked }))}
      error={error}
      value={value}
      onChange={onChange}
    />
  );
}
