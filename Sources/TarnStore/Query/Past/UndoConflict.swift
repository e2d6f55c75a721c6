/// A conflict that prevents undoing a commit: something that it changed was changed again since.
package struct UndoConflict: Hashable, Sendable {
  package enum Cause: Hashable, Sendable {
    /// The property was set again.
    case modified(ColumnID)
    /// The object was deleted.
    case deleted
    /// Another object replaced the object.
    case replaced
    /// A link to the object, which the commit added, was made or removed.
    case linked
    /// This object has the primary key of a deleted one.
    case keyTaken(by: ObjectKey)
  }

  package let object: ObjectRef
  package let cause: Cause
}

extension UndoConflict {
  /// Those of these changes that later ones changed again.
  static func conflicts(of changes: ChangeSet, with others: ChangeSet) -> [UndoConflict] {
    var found: [UndoConflict] = []
    for entry in changes.classes {
      guard let later = others[entry.id] else { continue }
      func note(_ keys: KeySet, _ cause: Cause) {
        for key in keys {
          found.append(
            UndoConflict(object: ObjectRef(classID: entry.id, key: key), cause: cause))
        }
      }
      // Objects that it added, and that still exist.
      let gone = later.isCleared ? entry.inserted : entry.inserted.intersection(later.deleted)
      note(gone.intersection(later.inserted), .replaced)
      for touched in later.touched {
        note(entry.inserted.intersection(touched.keys), .modified(touched.column))
      }
      let linked = later.backTouched.reduce(KeySet()) { $0.union($1.keys) }
      note(entry.inserted.intersection(linked), .linked)
      // Objects that it deleted.
      note(entry.deleted.subtracting(entry.inserted).intersection(later.inserted), .replaced)
      // Objects that it modified.
      for touched in entry.touched {
        let replaced = touched.keys.intersection(later.inserted)
        note(replaced, .replaced)
        let deleted = later.isCleared ? touched.keys : touched.keys.intersection(later.deleted)
        note(deleted.subtracting(replaced), .deleted)
        let again = touched.keys.intersection(later.touchedKeys(in: touched.column))
        note(again, .modified(touched.column))
      }
    }
    var known: Set<UndoConflict> = []
    return found.filter { known.insert($0).inserted }
  }
}
