import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { useParamsOfUrl } from '../shell/search-params.js';

interface OpenLinkProps {
  /** The request that it opens beside the list. */
  id: string;
  children: string;
}

/** Link that opens a request beside its list, which stays as it is filtered. */
export function OpenLink({ id, children }: OpenLinkProps): ReactNode {
  const { slug } = useOrg();
  const [url] = useParamsOfUrl();
  return (
    <Anchor
      size="sm"
      truncate
      display="block"
      title={children}
      aria-label={`${children}, open ${id}`}
      data-row
      renderRoot={(anchor) => (
        <Link {...anchor} to={`/o/${slug}/requests`} search={{ ...url, open: id }} resetScroll={false} />
      )}
    >
      {children}
    </Anchor>
  );
}
