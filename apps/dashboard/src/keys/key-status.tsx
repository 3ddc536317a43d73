import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Key } from './keys.queries.js';

export function KeyStatus({ keyRecord }: { keyRecord: Key }): ReactNode {
  const isActive = keyRecord.status === 'active';
  return (
    <Badge variant="light" color={isActive ? 'green' : 'gray'}>
      {keyRecord.status}
    </Badge>
  );
}
