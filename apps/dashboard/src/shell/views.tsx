import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useOrg } from './org.queries.js';
import { dropView, keepView, readViews, type View } from './saved-views.js';
import { useParamsOfUrl } from './search-params.js';

/** Names for what the address shows, kept in this browser. */
export function Views({ page }: { page: string }): ReactNode {
  const { slug } = useOrg();
  const place = `/o/${slug}${page}`;
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus withArrow width={280}>
      <Popover.Target>
        <Button
          variant="default"
          px="sm"
          leftSection={<IconBookmark size={16} />}
          onClick={() => setOpen(!isOpen)}
        >
          Views
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Kept place={place} onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Kept({ place, onDone }: { place: string; onDone: () => void }): ReactNode {
  const [search] = useParamsOfUrl();
  const navigate = useNavigate();
  const [views, setViews] = useState<View[]>(() => readViews(localStorage, place));
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setViews(keepView(localStorage, place, { name, search }));
    setName('');
  };
  return (
    <Stack gap="sm">
      {views.length === 0 && (
        <Text size="sm" c="dimmed">
          A view keeps range, filters and grouping under a name, in this browser.
        </Text>
      )}
      {views.map((view) => (
        <Group key={view.name} gap="xs" wrap="nowrap" justify="space-between">
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ minWidth: 0 }}
            onClick={() => {
              void navigate({ to: '.', search: view.search });
              onDone();
            }}
          >
            {view.name}
          </Button>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Drop the view ${view.name}`}
            onClick={() => setViews(dropView(localStorage, place, view.name))}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      <form onSubmit={submit}>
        <Group gap="xs" wrap="nowrap" align="flex-end">
          <TextInput
            label="Keep what is shown as"
            required
            maxLength={60}
            style={{ flex: 1 }}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Button type="submit">Keep</Button>
        </Group>
      </form>
    </Stack>
  );
}
