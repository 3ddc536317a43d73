import { Modal, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { FormEnd } from './form-end.js';
import { useCreateOrg } from './create-org.queries.js';

/** Anybody may found an organization, and owns it. */
export default function CreateOrg({ onClose }: { onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [name, setName] = useState('');
  const create = useCreateOrg(idempotencyKey);
  const navigate = useNavigate();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const open = ({ id }: { id: string }): void => {
      onClose();
      void navigate({ to: `/o/${id}/start` });
    };
    create.mutate(name.trim(), { onSuccess: open });
  };
  return (
    <Modal opened onClose={onClose} title="Create an organization">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Name"
            description="It has its own balance, keys, members and limits. You are its owner."
            required
            maxLength={200}
            data-autofocus
            error={create.error?.fields.name}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <FormEnd write={create} action="Create organization" />
        </Stack>
      </form>
    </Modal>
  );
}
