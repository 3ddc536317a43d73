import { Alert, Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Successor } from '../models/successor.js';
import { useOrg } from '../shell/org.queries.js';
import { useRetiring } from './retiring.queries.js';

/** Models that were used in the last 30 days and are retired in the next; nothing where there is none. */
export function RetiringModels({ org }: { org: string }): ReactNode {
  const { slug } = useOrg();
  const models = useRetiring(org);
  if (models.length === 0) return null;
  const title =
    models.length === 1
      ? 'A model that you use is retired'
      : `${models.length} models that you use are retired`;
  return (
    <Alert color="yellow" title={`${title} soon`}>
      {models.map((model) => (
        <Text key={model.id} size="sm">
          <Anchor component={Link} to={`/o/${slug}/models/${model.id}`} inherit>
            {model.id}
          </Anchor>
          : no provider serves it from {model.retires_at} on. <Successor of={model} />
        </Text>
      ))}
    </Alert>
  );
}
