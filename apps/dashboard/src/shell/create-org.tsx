import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { useIsBilled } from '../session/me.queries.js';
import { CreateForm, type CreateField } from './create-form.js';
import { useCreateOrg } from './create-org.queries.js';

const nameField = (isBilled: boolean): CreateField => ({
  name: 'name',
  label: 'Name',
  description: `It has its own ${isBilled ? 'balance, ' : ''}keys, members and limits. You are its owner.`,
  required: true,
});

/** Anybody may found an organization, and owns it. */
export default function CreateOrg({ onClose }: { onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const create = useCreateOrg(idempotencyKey);
  const isBilled = useIsBilled();
  const navigate = useNavigate();
  const open = ({ id }: { id: string }): void => {
    onClose();
    void navigate({ to: `/o/${id}/start` });
  };
  return (
    <Modal opened onClose={onClose} title="Create an organization">
      <CreateForm
        fields={[nameField(isBilled)]}
        write={create}
        action="Create organization"
        onSubmit={({ name = '' }) => create.mutate(name, { onSuccess: open })}
      />
    </Modal>
  );
}
