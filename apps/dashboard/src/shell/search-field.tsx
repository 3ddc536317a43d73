import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';

const SEARCH_AFTER_MS = 300;

interface SearchFieldProps {
  label: string;
  /** What the URL says when the page opens. */
  text: string | undefined;
  /** Called a moment after the last letter. */
  onSearch: (text: string) => void;
  width?: number;
}

/** The field above a list that narrows it. */
export function SearchField({ label, text, onSearch, width = 280 }: SearchFieldProps): ReactNode {
  const [value, setValue] = useState(text ?? '');
  const search = useDebouncedCallback(onSearch, SEARCH_AFTER_MS);
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      value={value}
      onChange={({ currentTarget }) => {
        setValue(currentTarget.value);
        search(currentTarget.value.trim());
      }}
      w={{ base: '100%', xs: width }}
    />
  );
}
