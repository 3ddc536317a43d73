import { ActionIcon, Group, Select, Stack, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { moved } from './policy-draft.js';

interface ProviderOrderProps {
  order: readonly string[];
  providers: readonly { value: string; label: string }[];
  error: string | undefined;
  onChange: (order: string[]) => void;
}

/** Providers in the order in which they are tried; each moves by two buttons, which the keyboard reaches. */
export function ProviderOrder({ order, providers, error, onChange }: ProviderOrderProps): ReactNode {
  const left = providers.filter(({ value }) => !order.includes(value));
  return (
    <Stack gap={6}>
      {order.map((provider, at) => (
        <Group key={provider} justify="space-between" wrap="nowrap">
          <Text size="sm" truncate>
            {at + 1}. {providers.find(({ value }) => value === provider)?.label ?? provider}
          </Text>
          <Group gap={4} wrap="nowrap">
            <ActionIcon
              variant="default"
              aria-label={`Move ${provider} up`}
              disabled={at === 0}
              onClick={() => onChange(moved(order, at, -1))}
            >
              <IconArrowUp size={14} />
            </ActionIcon>
            <ActionIcon
              variant="default"
              aria-label={`Move ${provider} down`}
              disabled={at === order.length - 1}
              onClick={() => onChange(moved(order, at, 1))}
            >
              <IconArrowDown size={14} />
            </ActionIcon>
            <ActionIcon
              variant="default"
              aria-label={`Remove ${provider}`}
              onClick={() => onChange(order.filter((one) => one !== provider))}
            >
              <IconX size={14} />
            </ActionIcon>
          </Group>
        </Group>
      ))}
      <Select
        label="Try first"
        description="In this order; the others follow where fallbacks are allowed"
        placeholder="Add a provider"
        searchable
        error={error}
        data={left}
        value={null}
        onChange={(provider) => {
          if (provider !== null) onChange([...order, provider]);
        }}
      />
    </Stack>
  );
}
