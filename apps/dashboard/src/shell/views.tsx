import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { IconBookmark, IconTrash, IconUsersPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useMe, useRoles } from '../session/me.queries.js';
import { useOrg } from './org.queries.js';
import { dropView, keepView, readViews, type View } from './saved-views.js';
import { useParamsOfUrl, type Params } from './search-params.js';
import { useDeleteView, useKeepView, useSharedViews, type ViewPage } from './views.queries.js';

/** Names for what the address shows: the organization shares them, an account without one keeps them in the browser. */
export function Views({ page }: { page: ViewPage }): ReactNode {
  const { slug, id } = useOrg();
  const place = `/o/${slug}${page}`;
  // A super admin who is no member reads no views of the organization.
  const isMember = useRoles(slug).some((role) => role !== 'super' && role !== 'alone');
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const show = (search: Params): void => {
    setOpen(false);
    void navigate({ to: '.', search });
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus withArrow width={300}>
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
        {id === null || !isMember ? (
          <OfBrowser place={place} show={show} />
        ) : (
          <OfOrg org={id} page={page} place={place} show={show} />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

interface OfBrowserProps {
  place: string;
  show: (search: Params) => void;
}

function OfBrowser({ place, show }: OfBrowserProps): ReactNode {
  const [search] = useParamsOfUrl();
  const [views, setViews] = useState<View[]>(() => readViews(localStorage, place));
  return (
    <Stack gap="sm">
      {views.length === 0 && <Explained where="in this browser" />}
      {views.map((view) => (
        <Line key={view.name} name={view.name} onShow={() => show(view.search)}>
          <Drop name={view.name} onDrop={() => setViews(dropView(localStorage, place, view.name))} />
        </Line>
      ))}
      <Keep onKeep={(name) => setViews(keepView(localStorage, place, { name, search }))} />
    </Stack>
  );
}

interface OfOrgProps extends OfBrowserProps {
  org: string;
  page: ViewPage;
}

/** Views of everybody in the organization, and those that this browser has kept before they were shared. */
function OfOrg({ org, page, place, show }: OfOrgProps): ReactNode {
  const [search] = useParamsOfUrl();
  const shared = useSharedViews(org, page);
  const keep = useKeepView(org, page);
  const drop = useDeleteView(org);
  const me = useMe().data?.user.id;
  const isStaff = useRoles(org).some((role) => role === 'owner' || role === 'admin');
  const [own, setOwn] = useState<View[]>(() => readViews(localStorage, place));
  const views = shared.data ?? [];
  const failure = shared.error ?? keep.error ?? drop.error;
  const share = (view: View): void =>
    keep.mutate(
      { ...view, id: undefined },
      { onSuccess: () => setOwn(dropView(localStorage, place, view.name)) },
    );
  return (
    <Stack gap="sm">
      {shared.isSuccess && views.length + own.length === 0 && <Explained where="for your organization" />}
      {views.map(({ id, name, search: kept, created_by: maker }) => (
        <Line key={id} name={name} onShow={() => show(kept)}>
          {(isStaff || maker === me) && <Drop name={name} onDrop={() => drop.mutate(id)} />}
        </Line>
      ))}
      {own.length > 0 && (
        <Text size="sm" c="dimmed">
          In this browser alone
        </Text>
      )}
      {own.map((view) => (
        <Line key={view.name} name={view.name} onShow={() => show(view.search)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Share the view ${view.name}`}
            onClick={() => share(view)}
          >
            <IconUsersPlus size={14} />
          </ActionIcon>
          <Drop name={view.name} onDrop={() => setOwn(dropView(localStorage, place, view.name))} />
        </Line>
      ))}
      <Keep
        onKeep={(name) => keep.mutate({ name, search, id: views.find((view) => view.name === name)?.id })}
      />
      {failure !== null && (
        <Text size="sm" c="red" role="alert">
          {failure.message}
        </Text>
      )}
    </Stack>
  );
}

function Explained({ where }: { where: string }): ReactNode {
  return (
    <Text size="sm" c="dimmed">
      A view keeps range, filters and grouping under a name, {where}.
    </Text>
  );
}

interface LineProps {
  name: string;
  onShow: () => void;
  children: ReactNode;
}

function Line({ name, onShow, children }: LineProps): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Button variant="subtle" size="compact-sm" style={{ minWidth: 0 }} title={name} onClick={onShow}>
        <Text span inherit truncate>
          {name}
        </Text>
      </Button>
      <Group gap={4} wrap="nowrap">
        {children}
      </Group>
    </Group>
  );
}

function Drop({ name, onDrop }: { name: string; onDrop: () => void }): ReactNode {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={`Delete the view ${name}`} onClick={onDrop}>
      <IconTrash size={14} />
    </ActionIcon>
  );
}

function Keep({ onKeep }: { onKeep: (name: string) => void }): ReactNode {
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    onKeep(name.trim());
    setName('');
  };
  return (
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
  );
}
