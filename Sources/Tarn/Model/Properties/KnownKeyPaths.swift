import TarnStore

/// The properties of known key paths. Programs use the same few again and again, and tracing one
/// takes some microseconds.
enum KnownKeyPaths {
  private struct Name: Hashable {
    let keyPath: AnyKeyPath
    let throughElements: Bool
  }

  private struct Table: @unchecked Sendable {
    // because: a key path of a class's properties never changes, and is only hashed and compared.
    var steps: [Name: [PropertyReflection]] = [:]
  }

  /// Key paths may contain values, such as positions, so there may be any number.
  private static let most = 1000

  private static let table = Lock(Table())

  /// The properties of a key path, in order.
  static func steps<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, throughElements: Bool
  ) throws(KeyPathFault) -> [PropertyReflection] {
    // because: see the table.
    nonisolated(unsafe) let name = Name(keyPath: keyPath, throughElements: throughElements)
    if let known = table.withLock({ unsafe $0.steps[name] }) { return known }
    let steps = try Tracer.steps(of: keyPath, throughElements: throughElements)
    table.withLock { table in
      if table.steps.count >= most { table.steps = [:] }
      table.steps[unsafe name] = steps
    }
    return steps
  }
}
