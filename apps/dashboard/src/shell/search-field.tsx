import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';

const SEARCH_AFTER_MS = 300;

interface SearchFieldProps {
  label: string;
  /** Text in the URL. */
  text: string | undefined;
  /** Called a moment after the last letter. */
  onSearch: (text: string) => void;
  width?: number;
}

/** The field above a list that narrows it. */
export function SearchField({ label, text = '', onSearch, width = 280 }: SearchFieldProps): ReactNode {
  const [value, setValue] = useState(text);
  const sent = useRef(text);
  const search = useDebouncedCallback((typed: string) => {
    sent.current = typed;
    onSearch(typed);
  }, SEARCH_AFTER_MS);
  // A link or a saved view has changed the address; what was typed since the last search stays.
  useEffect(() => {
    if (text === sent.current) return;
    sent.current = text;
    setValue(text);
  }, [text]);
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
