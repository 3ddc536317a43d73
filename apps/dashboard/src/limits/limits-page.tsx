import { Box, Button, Stack } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { isAllowed, rolesIn } from '../session/rights.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { SearchField } from '../shell/search-field.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { KeyChoice } from './key-choice.js';
import { KeyPath } from './key-path.js';
import { KeyTree, LimitTree, OwnTree } from './limit-tree.js';

export default function LimitsPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  return (
    <>
      <PageHead
        title="Limits"
        about="What is set from the organization down to each key, and what is used of it. The smallest decides."
      >
        <Button component={Link} to={`/o/${slug}/limits/simulate`} variant="default">
          Simulate a request
        </Button>
      </PageHead>
      {url.key_id === undefined ? (
        <Everything />
      ) : (
        <Stack>
          <Box>
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<IconArrowLeft size={14} />}
              onClick={() => change({ key_id: null })}
            >
              All limits
            </Button>
          </Box>
          <Box maw={420}>
            <KeyChoice value={url.key_id} onChange={(chosen) => change({ key_id: chosen })} />
          </Box>
          <KeyPath org={id} limitedKey={url.key_id} />
        </Stack>
      )}
    </>
  );
}

function Everything(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const me = useMe().data;
  if (me === undefined) return null;
  if (id === null) return <KeyTree org={null} label={undefined} />;
  if (!isAllowed(rolesIn(me, slug), ['owner', 'admin'])) return <OwnTree org={id} person={me.user.id} />;
  return (
    <>
      <Box mb="md">
        <SearchField
          label="Search teams, people and keys"
          text={url.q}
          onSearch={(q) => change({ q })}
          width={300}
        />
      </Box>
      <LimitTree org={id} q={url.q === '' ? undefined : url.q} />
    </>
  );
}
