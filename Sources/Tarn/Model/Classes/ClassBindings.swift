import TarnStore

/// The bindings of the program's classes to the file's, at the schema that was bound last.
final class ClassBindings {
  /// The program's classes.
  private(set) var model: ModelSchema
  private var typed: [ObjectIdentifier: ClassBinding] = [:]
  /// For classes of dynamic objects, by their names.
  private var dynamic: [String: ClassBinding] = [:]
  private(set) var epoch: UInt64 = .max
  /// The newest schema that is known to fit the program's classes.
  private var fitting: SchemaView?
  /// The binding that was used last.
  private var recent: ClassBinding?

  init(_ model: ModelSchema) { self.model = model }

  /// Copies another instance's bindings, for a frozen instance.
  func begin(at schema: SchemaView, knowing others: ClassBindings) {
    epoch = schema.epoch
    if others.epoch == epoch { typed = others.typed }
  }

  /// The program has loaded more classes.
  func learn(_ newer: ModelSchema) {
    model = newer
    fitting = nil
  }

  /// Drops the bindings of another schema.
  func bind(to schema: SchemaView) {
    typed.removeAll()
    dynamic.removeAll()
    recent = nil
    epoch = schema.epoch
  }

  /// The binding of a class, which will be found fastest from now on.
  func recall(_ type: ObjectBase.Type) -> ClassBinding? {
    if let recent, recent.reflection.type == type { return recent }
    guard let found = typed[ObjectIdentifier(type)] else { return nil }
    recent = found
    return found
  }

  /// The same, without any change.
  func known(_ type: ObjectBase.Type) -> ClassBinding? { typed[ObjectIdentifier(type)] }
  func known(_ name: String) -> ClassBinding? { dynamic[name] }

  func keep(_ binding: ClassBinding, for type: ObjectBase.Type) {
    typed[ObjectIdentifier(type)] = binding
  }

  func keep(_ binding: ClassBinding, forDynamic name: String) { dynamic[name] = binding }

  // MARK: - Fitting

  /// The reasons why the program's classes cannot be used at a schema; none if every property still
  /// has its column. Then everything found before stays valid.
  func problems(at schema: SchemaView) -> [String] {
    if let fitting, fitting.epoch == schema.epoch { return [] }
    let plan = SchemaPlan(stored: schema.schema, wanted: model.definitions)
    var problems = plan.differences + plan.additions
    if let before = fitting?.schema, problems.isEmpty {
      problems = replacedColumns(from: before, to: schema.schema)
    }
    if problems.isEmpty { fitting = schema }
    return problems
  }

  /// Properties that lost their column and got another one of the same kind.
  private func replacedColumns(from before: StoreSchema, to after: StoreSchema) -> [String] {
    var problems: [String] = []
    for definition in model.definitions {
      let old = before.named(definition.name)
      let new = after.named(definition.name)
      for property in definition.properties
      where old?.named(property.name)?.id != new?.named(property.name)?.id {
        problems.append(
          "Property '\(definition.name).\(property.name)' has been removed and added again.")
      }
    }
    return problems
  }
}
