--: declarations
DECLARE
  clock bigint := round(date_part('epoch', clock_timestamp()) * 1000000)::bigint;
  cap bigint := clock + 60000000;
  said jsonb := NEW._tarn_in;
  writer integer;
  came jsonb := said->'came';
  stamp bigint;
  -- Of what SQL has written, or a trigger.
  own bigint;
  last bigint;
  former jsonb;
  cols jsonb;
  {{others}}

--: body
  -- What another session has seen must not be lost by a crash: its number would come again.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  NEW._tarn_xid := pg_current_xact_id();
  NEW._tarn_in := NULL;
  IF TG_OP = 'INSERT' OR NEW.{{key}} IS DISTINCT FROM OLD.{{key}} THEN
{{insertion}}
    RETURN NEW;
  END IF;
  NEW._tarn_oid := OLD._tarn_oid;
  NEW._tarn_at := OLD._tarn_at;
  NEW._tarn_by := OLD._tarn_by;
  NEW._tarn_parts := OLD._tarn_parts;
  cols := OLD._tarn_cols;
{{look_for_others}}
  IF said IS NULL OR said ? 'sql' THEN
{{sql_update}}
  ELSE
    writer := (said->>'by')::integer;
{{replica_update}}
  END IF;
  NEW._tarn_cols := cols;
  RETURN NEW;
--: insertion
    NEW._tarn_oid := uuid_hash_extended(gen_random_uuid(), 0);
    NEW._tarn_at := clock;
    NEW._tarn_by := 0;
    NEW._tarn_cols := NULL;
    NEW._tarn_parts := NULL;
    IF said ? 'by' AND TG_OP = 'INSERT' THEN
      IF said->>'key' <> NEW.{{key}}::text THEN
        RAISE EXCEPTION
          'a trigger of % has changed the primary key of a new object from % to %',
          TG_RELID::regclass, said->>'key', NEW.{{key}} USING ERRCODE = '09000';
      END IF;
      NEW._tarn_oid := (said->>'oid')::bigint;
      NEW._tarn_at := least((said->>'at')::bigint, cap);
      NEW._tarn_by := (said->>'by')::integer;
      IF said ? 'cols' THEN
        SELECT jsonb_object_agg(c.key, jsonb_build_array(
          least(c.value::bigint, cap), NEW._tarn_by))
        INTO NEW._tarn_cols FROM jsonb_each_text(said->'cols') c;
      END IF;
      IF said ? 'parts' THEN
        SELECT jsonb_object_agg(p.key, coalesce(
          NEW._tarn_cols->p.key, jsonb_build_array(NEW._tarn_at, NEW._tarn_by)) || p.value)
        INTO NEW._tarn_parts FROM jsonb_each(said->'parts') p;
      END IF;
      IF came IS NOT NULL THEN
{{columns}}
      END IF;
    END IF;
--: insertion.column
    IF came->>{{text}} <> {{hash}} THEN
      NEW._tarn_cols := coalesce(NEW._tarn_cols, '{}') || jsonb_build_object(
        {{text}}, jsonb_build_array(greatest(clock, NEW._tarn_at + 1,
          (NEW._tarn_cols->{{text}}->>0)::bigint + 1), 0));
    END IF;
--: sql.scalar
    IF NEW.{{column}} IS DISTINCT FROM OLD.{{column}} THEN
{{stamp}}
    END IF;
--: sql.structured
    IF said->'sql' ? {{text}} OR others = 'true' AND NEW.{{column}} IS DISTINCT FROM OLD.{{column}} THEN
{{stamp}}
    END IF;
--: sql.stamp
      IF own IS NULL THEN
        last := OLD._tarn_at;
        -- Mostly all are earlier, and need no query, which costs as much as all the rest.
        IF jsonb_path_exists(cols, '$.*[0] ? (@ >= $clock)',
          jsonb_build_object('clock', clock)) THEN
          SELECT greatest(last, max((c.value->>0)::bigint)) INTO last FROM jsonb_each(cols) c;
        END IF;
        own := greatest(clock, last + 1);
      END IF;
      own := greatest(own, stamp + 1);
      cols := coalesce(cols, '{}') || jsonb_build_object(
        {{text}}, jsonb_build_array(own, 0));
--: replica.column
    IF said->'cols' ? {{text}} THEN
      former := coalesce(
        cols->{{text}}, jsonb_build_array(OLD._tarn_at, OLD._tarn_by));
      last := (former->>0)::bigint;
      stamp := least((said->'cols'->>{{text}})::bigint, cap);
{{merge}}
{{unsent}}
    END IF;
--: replica.scalar
      IF (stamp, writer) > (last, (former->>1)::integer) THEN
{{taken}}
      ELSE
        NEW.{{column}} := OLD.{{column}};
      END IF;
--: replica.structured
      IF said->'seen'->{{text}} IS DISTINCT FROM former THEN
        RAISE EXCEPTION 'another has written %', {{text}} USING ERRCODE = 'TN001';
      END IF;
      stamp := greatest(stamp, last + 1);
{{taken}}
--: replica.taken
        IF came IS NOT NULL AND came->>{{text}} <> {{hash}} THEN
{{stamp}}
        ELSE
          cols := coalesce(cols, '{}')
            || jsonb_build_object({{text}}, jsonb_build_array(stamp, writer));
{{parts}}
        END IF;
--: replica.parts
        IF said->'parts' ? {{text}} THEN
          NEW._tarn_parts := coalesce(NEW._tarn_parts, '{}')
            || jsonb_build_object(
              {{text}}, jsonb_build_array(stamp, writer, said->'parts'->{{text}}));
        ELSIF NEW._tarn_parts ? {{text}} THEN
          NEW._tarn_parts := NEW._tarn_parts - {{text}};
        END IF;
--: unsent.scalar
    ELSIF NEW.{{column}} IS DISTINCT FROM OLD.{{column}} THEN
{{stamp}}
--: unsent.structured
    ELSIF others <> 'true' THEN
      NEW.{{column}} := OLD.{{column}};
    ELSIF NEW.{{column}} IS DISTINCT FROM OLD.{{column}} THEN
{{stamp}}
