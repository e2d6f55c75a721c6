import TarnStore

/// An object that changed between two versions, with its changes.
///
/// Threading: frozen; any thread may read it.
public struct ModifiedObject<Element: Object> {
  /// The object at the newest version.
  public let object: Element
  /// The names of the properties that were assigned, even the same value, in the order of their
  /// declaration. A change in an embedded object counts as a change of the property that contains
  /// it. For a cursor with key paths, these are the first properties of the paths on which
  /// something changed. Empty if no property of the object itself that the cursor selects was
  /// assigned.
  public let properties: [String]
  /// The former values of the assigned properties, if the cursor keeps old values.
  public let oldValues: [String: RecordedValue]
  private let edits: [String: CollectionEdit]

  init(
    _ object: Element, properties: [String], oldValues: [String: RecordedValue],
    edits: [String: CollectionEdit]
  ) {
    self.object = object
    self.properties = properties
    self.oldValues = oldValues
    self.edits = edits
  }

  /// True if the property was assigned.
  public func isModified(_ property: String) -> Bool { properties.contains(property) }

  /// True if the property was assigned.
  public func isModified(_ keyPath: PartialKeyPath<Element>) -> Bool {
    properties.contains(_name(for: keyPath))
  }

  /// How the elements of a list, set or map moved; nil if they did not, or for another property.
  public func edit(of property: String) -> CollectionEdit? { edits[property] }

  /// How the elements of a list, set or map moved; nil if they did not, or for another property.
  public func edit(of keyPath: PartialKeyPath<Element>) -> CollectionEdit? {
    edits[_name(for: keyPath)]
  }
}

@available(*, unavailable, message: "frozen, but its object is not Sendable: use the batch")
extension ModifiedObject: Sendable {}
