import TarnStore

/// An object that changed between two versions, and what changed in it.
///
/// Threading: frozen; any thread may read it.
public struct ModifiedObject<Element: Object> {
  /// The object at the newest version.
  public let object: Element
  /// The names of the properties that were assigned, even the same value, in the order of their
  /// declaration. A change in an embedded object counts as one of the property that leads to it. Of
  /// a cursor with key paths these are the first properties on those that lead to a change. Empty
  /// if nothing in the object itself was assigned that the cursor asks for.
  public let properties: [String]
  /// The values that the assigned properties had before, if the cursor keeps old values.
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

  /// How the elements of a list, set or map moved; nil if they did not, or if the property is none.
  public func edit(of property: String) -> CollectionEdit? { edits[property] }

  /// How the elements of a list, set or map moved; nil if they did not, or if the property is none.
  public func edit(of keyPath: PartialKeyPath<Element>) -> CollectionEdit? {
    edits[_name(for: keyPath)]
  }
}

@available(*, unavailable, message: "frozen, but its object is not Sendable: use the batch")
extension ModifiedObject: Sendable {}
