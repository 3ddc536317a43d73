import { Badge, Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { barHeight } from '../chart/bar-height.js';

const FULL_PCT = 100;
const NEAR_PCT = 80;

interface UsedProps {
  label: string;
  /** null where there is no limit. */
  pct: number | null;
  binds?: boolean;
  children: ReactNode;
}

/** Use of a limit, in words and as a bar; without a limit there is none. */
export function Used({ label, pct, binds = false, children }: UsedProps): ReactNode {
  return (
    <Stack gap={4}>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" component="div" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
          {children}
        </Text>
        {binds && (
          <Badge size="xs" variant="light" style={{ flexShrink: 0 }}>
            effective
          </Badge>
        )}
      </Group>
      {pct !== null && (
        <Progress
          size="sm"
          value={Math.min(pct, FULL_PCT)}
          color={pct >= FULL_PCT ? 'red' : pct >= NEAR_PCT ? 'yellow' : undefined}
          aria-label={label}
        />
      )}
    </Stack>
  );
}

/** Returns the length of a cap's bar: a cap of 0 is full. */
export function shareOf(spent: string, cap: string): number {
  const whole = barHeight(cap);
  return whole === 0 ? FULL_PCT : (barHeight(spent) / whole) * FULL_PCT;
}
