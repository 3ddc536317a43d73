import { Anchor, Button, Drawer, Group } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyText } from '../shell/copy-text.js';
import { useOrg } from '../shell/org.queries.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { RequestView } from './request-view.js';

interface RequestPanelProps {
  id: string;
  /** Ids of the requests in the list beside it, newest first. */
  among: readonly string[];
}

/** One request beside the list that it was opened from, with the way to its neighbours. */
export default function RequestPanel({ id, among }: RequestPanelProps): ReactNode {
  const { slug } = useOrg();
  const [, change] = useParamsOfUrl();
  const at = among.indexOf(id);
  const [newer, older] = at < 0 ? [] : [among[at - 1], among[at + 1]];
  const open = (other: string | undefined) => () => change({ open: other });
  return (
    <Drawer
      opened
      onClose={() => change({ open: null })}
      position="right"
      size="min(820px, 100vw)"
      title="Request"
      closeButtonProps={{ 'aria-label': 'Close the request' }}
    >
      <Group justify="space-between" mb="md" gap="xs">
        <CopyText text={id} label="request id" />
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconChevronLeft size={14} />}
            disabled={newer === undefined}
            onClick={open(newer)}
          >
            Newer
          </Button>
          <Button
            variant="default"
            size="xs"
            rightSection={<IconChevronRight size={14} />}
            disabled={older === undefined}
            onClick={open(older)}
          >
            Older
          </Button>
          <Anchor component={Link} to={`/o/${slug}/requests/${id}`} size="sm">
            Open as a page
          </Anchor>
        </Group>
      </Group>
      <RequestView key={id} id={id} />
    </Drawer>
  );
}
