import { Button, VisuallyHidden } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface FilterChipProps {
  /** Kind of what the page is filtered by, such as Key; absent where its value says so. */
  kind?: string | undefined;
  value: string;
  onRemove: () => void;
}

/** A filter of the page, by name; pressed, it is removed. */
export function FilterChip({ kind, value, onRemove }: FilterChipProps): ReactNode {
  return (
    <Button
      variant="light"
      size="compact-sm"
      rightSection={<IconX size={14} aria-hidden />}
      onClick={onRemove}
    >
      {kind === undefined ? value : `${kind}: ${value}`}
      <VisuallyHidden> · remove the filter</VisuallyHidden>
    </Button>
  );
}
