/// The change of one object between two versions, as data: for consumers that send or store changes
/// instead of reading objects.
public struct RecordedChange: Hashable, Sendable {
  /// The kind of change, as in ``ObjectChanges``.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    case inserted, replaced, modified, entered, left, deleted, gone
  }

  /// The kind of change.
  public let kind: Kind
  /// The object.
  public let identity: ObjectIdentity
  /// The names of the assigned properties of an object that was modified or entered.
  public let properties: [String]
  /// The values after the changes, by the names of the properties; nil for an object that is
  /// deleted, left or gone.
  public let values: [String: RecordedValue]?
  /// The values before the changes, if the cursor keeps them: those of the assigned properties, and
  /// all of a deleted object.
  public let oldValues: [String: RecordedValue]
  /// How the elements of assigned collections moved, by the names of the properties.
  public let edits: [String: CollectionEdit]
}

extension RecordedChange {
  /// The same for consumers that did not ask for old values: they may be kept for other reasons.
  package var withoutOldValues: RecordedChange {
    RecordedChange(
      kind: kind, identity: identity, properties: properties, values: values, oldValues: [:],
      edits: edits)
  }
}
