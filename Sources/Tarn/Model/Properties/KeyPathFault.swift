/// The reason why a key path names nothing in the file.
struct KeyPathFault: Error {
  enum Reason {
    /// With the stored properties that were read for its value.
    case notStored(from: [String])
    /// It continues from a value, or from a collection.
    case member
    case object
    /// A protocol requirement, which may be computed.
    case requirement
    case unknown
  }

  /// The use of a key path.
  enum Use {
    case name, order, aggregate, condition, distinct, sections, grouping, observing, property

    /// Whether a key path may continue from elements of collections.
    var goesThroughElements: Bool {
      switch self {
      case .observing, .name: true
      default: false
      }
    }
  }

  /// The key path for the message: a compiled one has no name.
  private let subject: String
  private let reason: Reason

  init<Root>(_ keyPath: PartialKeyPath<Root>, _ reason: Reason) {
    let type = Swift.type(of: keyPath).valueType
    subject =
      if case .object = reason { "\\\(Root.self).self" } else {
        "A key path of \(Root.self) to a value of type \(type)"
      }
    self.reason = reason
  }

  /// Not stored, but computed from these.
  init<Root>(_ keyPath: PartialKeyPath<Root>, readsFrom properties: [PropertyReflection]) {
    var names: [String] = []
    for property in properties where !names.contains(property.name) { names.append(property.name) }
    self.init(keyPath, .notStored(from: names))
  }

  func message(for use: Use) -> String { "\(subject) \(what), \(rule(use))" }

  private var what: String {
    switch reason {
    case .notStored(let names):
      names.isEmpty
        ? "is not stored"
        : "is not stored but computed from "
          + names.map { "'\($0)'" }.joined(separator: ", ")
    case .member: "goes into a value, whose parts are not stored separately"
    case .object: "is the object itself and not a property"
    case .requirement:
      "is a requirement of a protocol, which a class may compute (name the property as a "
        + "string, or use a key path of the class)"
    case .unknown: "is not a chain of stored properties"
    }
  }

  private func rule(_ use: Use) -> String {
    switch use {
    case .name:
      "so it has no name in the file. Use a @Persisted property, or one reached through "
        + "links."
    case .order:
      "so the store cannot sort by it. Sort by a @Persisted property, or sort an array of the "
        + "objects."
    case .aggregate:
      "so the store cannot compute with it. Iterate over the objects in Swift instead."
    case .condition:
      "so a filter cannot use it. Use @Persisted properties, or filter the objects in "
        + "Swift."
    case .distinct:
      "so the store cannot distinguish objects by it. Use @Persisted properties, or iterate over "
        + "the objects in Swift."
    case .observing:
      "so it cannot be observed. Observe the @Persisted properties that it is computed from."
    case .property:
      "so its changes are not reported. Observe the @Persisted properties that it is computed from."
    case .sections:
      "and its getter does not read exactly one stored property, by which the store could order "
        + "the sections. Give the order: sectioned(by:sortDescriptors:)."
    case .grouping:
      "so the store cannot group by it. Group by a @Persisted property, or use Swift's "
        + "Dictionary(grouping:by:)."
    }
  }
}
