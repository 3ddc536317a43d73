import { Select } from '@mantine/core';
import type { ReactNode } from 'react';
import { GROUPS } from './metrics.js';

/** Groups that a group can be split by, as the address names them. */
const SECOND = GROUPS.filter(({ value }) => value !== 'tag');

/** Returns the second group that an address names; null where it names none, or the first again. */
export function secondGroupOf(then: string | undefined, first: string): string | null {
  return SECOND.some(({ value }) => value === then) && then !== first ? (then ?? null) : null;
}

interface SecondGroupPickerProps {
  first: string;
  second: string | null;
  onChange: (second: string | null) => void;
}

/** Chooses what each group of the table is split by. */
export function SecondGroupPicker({ first, second, onChange }: SecondGroupPickerProps): ReactNode {
  const data = SECOND.filter(({ value }) => value !== first).map(({ value, label }) => ({
    value,
    label: label.replace(/^by/, 'then by'),
  }));
  return (
    <Select
      aria-label="Second group"
      placeholder="then by …"
      data={data}
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the second group' }}
      value={second}
      onChange={onChange}
      w={170}
    />
  );
}
