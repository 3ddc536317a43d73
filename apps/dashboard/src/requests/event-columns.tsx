import { Anchor, Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { When } from '../shell/when.js';
import type { Column } from '../table/data-table.js';
import { OpenLink } from './open-link.js';
import type { UsageEvent } from './requests.queries.js';

/** Every column that the list can show, in its order. A row opens its request beside the list. */
export function eventColumns(slug: string): Column<UsageEvent>[] {
  return [
    { name: 'Time', width: 96, sort: 'created_at', cell: ({ created_at: at }) => <When at={at} /> },
    {
      name: 'Request',
      width: 150,
      cell: ({ request_id: id }) => (
        <Anchor component={Link} to={`/o/${slug}/requests/${id}`} size="sm" truncate display="block">
          {id}
        </Anchor>
      ),
    },
    { name: 'Model', width: 180, cell: ({ model, request_id: id }) => <OpenLink id={id}>{model}</OpenLink> },
    {
      name: 'Key',
      width: 160,
      cell: ({ key_id: id, key_label: label }) => (
        <Anchor component={Link} to={`/o/${slug}/keys/${id}`} size="sm" truncate display="block">
          {label ?? id}
        </Anchor>
      ),
    },
    { name: 'Endpoint', width: 190, cell: ({ endpoint }) => endpoint },
    { name: 'Status', width: 90, cell: ({ status }) => <Outcome status={status} /> },
    {
      name: 'Input',
      width: 70,
      isFigure: true,
      sort: 'prompt_tokens',
      cell: ({ prompt_tokens: tokens }) => count(tokens),
    },
    { name: 'Cached', width: 70, isFigure: true, cell: ({ cached_tokens: tokens }) => count(tokens) },
    {
      name: 'Output',
      width: 70,
      isFigure: true,
      sort: 'completion_tokens',
      cell: ({ completion_tokens: tokens }) => count(tokens),
    },
    {
      name: 'First token',
      width: 100,
      isFigure: true,
      sort: 'ttft_ms',
      cell: ({ ttft_ms: ms }) => milliseconds(ms),
    },
    {
      name: 'Latency',
      width: 80,
      isFigure: true,
      sort: 'latency_ms',
      cell: ({ latency_ms: ms }) => milliseconds(ms),
    },
    { name: 'Tags', width: 200, cell: ({ request_tags: tags }) => textOf(tags) },
    {
      name: 'Cost',
      width: 96,
      isFigure: true,
      sort: 'cost_usd',
      cell: ({ cost_usd: usd }) => <Money usd={usd} isPrice />,
    },
  ];
}

function textOf(tags: UsageEvent['request_tags']): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

function Outcome({ status }: { status: string }): ReactNode {
  const isGood = status === 'success';
  return (
    <Badge variant="light" color={isGood ? 'green' : 'red'}>
      {isGood ? 'served' : status}
    </Badge>
  );
}
