import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { useModel, type Model } from './models.queries.js';
import { rateChanges } from './rate-changes.js';

/** Sentence on the model that takes the place of a retired one, with the difference in price. */
export function Successor({ of }: { of: Pick<Model, 'successor' | 'pricing'> }): ReactNode {
  return of.successor == null ? 'No successor is known.' : <Named of={of} successor={of.successor} />;
}

function Named({ of, successor }: { of: Pick<Model, 'pricing'>; successor: string }): ReactNode {
  const { slug } = useOrg();
  const [brand = '', name = ''] = successor.split('/');
  const next = useModel({ brand, name });
  return (
    <>
      Its maker names{' '}
      <Anchor component={Link} to={`/o/${slug}/models/${successor}`} inherit>
        {successor}
      </Anchor>{' '}
      in its place
      {next.isSuccess && `: ${rateChanges(of.pricing, next.data.pricing)}`}.
    </>
  );
}
