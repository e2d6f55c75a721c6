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
    /// By a property of that name.
    case projection(String)

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
    case .member: "goes into a value, of which the file knows no parts"
    case .object: "is no property but the object itself"
    case .requirement:
      "stands for what a protocol requires, which a class may compute (name the property as "
        + "text, or use a key path of the class)"
    case .unknown: "is not a chain of stored properties"
    }
  }

  private func rule(_ use: Use) -> String {
    switch use {
    case .name: "so it has no name in the file. Use a @Persisted property, or one behind links."
    case .order:
      "so the store cannot sort by it. Sort by a @Persisted property, or sort an array of the "
        + "objects."
    case .aggregate:
      "so the store cannot compute with it. Go over the objects in Swift instead."
    case .condition:
      "so the store cannot ask for it. Ask for @Persisted properties, or filter the objects in "
        + "Swift."
    case .distinct:
      "so the store cannot tell objects apart by it. Use @Persisted properties, or go over the "
        + "objects in Swift."
    case .observing:
      "so it cannot be observed. Observe the @Persisted properties that it is made of."
    case .property:
      "so nothing tells when it changes. Observe the @Persisted properties that it is made of."
    case .sections:
      "so the store cannot order sections by it. Give a closure instead: "
        + "sectioned(by: { … }, sortDescriptors: […])."
    case .grouping:
      "so the store cannot group by it. Group by a @Persisted property, or use Swift's "
        + "Dictionary(grouping:by:)."
    case .projection(let name):
      "so '\(name)' cannot project it. Project a @Persisted property, one behind links, or a "
        + "property of a list's objects: \\Person.friends.projectTo.name."
    }
  }
}
