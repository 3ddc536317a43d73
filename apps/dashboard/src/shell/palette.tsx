import { Group, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import type { Role } from '../session/rights.js';
import { useOrg } from './org.queries.js';
import { requestChoice, useFound, usePageChoices, type Choice } from './palette.queries.js';
import { keepChoice, recentChoices } from './recent-choices.js';
import classes from './palette.module.css';

const ASK_AFTER_MS = 200;
const LIST_ID = 'palette-list';

interface PaletteProps {
  onClose: () => void;
  roles: readonly Role[];
}

/** Opens any page, form, key, model, member, team or request by a few letters. */
export default function Palette({ onClose, roles }: PaletteProps): ReactNode {
  return (
    <Modal opened onClose={onClose} title="Go to" size="lg" centered={false} yOffset="12vh">
      <Content roles={roles} onClose={onClose} />
    </Modal>
  );
}

function Content({ roles, onClose }: PaletteProps): ReactNode {
  const { id, slug } = useOrg();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [asked] = useDebouncedValue(text.trim(), ASK_AFTER_MS);
  const found = useFound(id, asked);
  const pages = usePageChoices(roles, text.trim());
  // At once: a pasted id is entered before the search has begun.
  const request = requestChoice(text.trim());
  const [recent] = useState(() => recentChoices(() => localStorage, slug));
  const before = text.trim() === '' ? recent : [];
  const others = [
    ...before,
    ...pages.filter(({ id: page }) => before.every((one) => one.id !== page)),
    ...(text.trim() === '' ? [] : (found.data ?? [])),
  ];
  const choices = request === null ? others : [request];
  const active = Math.min(at, choices.length - 1);
  const open = (choice: Choice): void => {
    const { path, search } = choice;
    keepChoice(() => localStorage, slug, choice);
    onClose();
    void navigate({ to: `/o/${slug}${path}`, search });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(active + 1, choices.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(active - 1, 0));
    else if (event.key === 'Enter' && choices.length > 0) open(choices[active]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label="Page, action, key, model, member, team or request id"
        placeholder="Page, action, key, model, member, team or request id"
        aria-expanded
        aria-controls={LIST_ID}
        aria-activedescendant={choices.length === 0 ? undefined : `${LIST_ID}-${active}`}
        leftSection={<IconSearch size={16} />}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Choices choices={choices} active={active} open={open} />
      <Text size="sm" c="dimmed" role="status" mt="xs">
        {choices.length === 0 && !found.isFetching && 'Nothing is called that.'}
      </Text>
    </>
  );
}

interface ChoicesProps {
  choices: readonly Choice[];
  active: number;
  open: (choice: Choice) => void;
}

/** The keyboard stays in the text; the list only shows where it is. */
function Choices({ choices, active, open }: ChoicesProps): ReactNode {
  return (
    <div id={LIST_ID} role="listbox" aria-label="What was found" className={classes.list} tabIndex={-1}>
      {choices.map((choice, index) => (
        <div
          key={choice.id}
          id={`${LIST_ID}-${index}`}
          ref={index === active ? (row) => row?.scrollIntoView({ block: 'nearest' }) : undefined}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={classes.choice}
          onClick={() => open(choice)}
          onKeyDown={() => undefined}
        >
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm" truncate>
              {choice.label}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {choice.hint}
            </Text>
          </Group>
        </div>
      ))}
    </div>
  );
}
