import Foundation
import TarnStore

/// Objects of classes as the file describes them.
extension RealmCore {
  /// The binding of a class for dynamic objects. Traps if the file has no such class.
  func dynamicBinding(_ name: String) -> ClassBinding {
    let schema = schemaToBind()
    if let known = classes.known(name) ?? classesOfThread?.known(name) { return known }
    guard let described = schema.schema.named(name), !described.isVacant else {
      trap(
        "The file has no class '\(name)'. Use its name in the file, without module; see the "
          + "Realm's schema.")
    }
    let binding = ClassBinding(ClassReflection(schema.schema, described), described)
    (classesOfThread ?? classes).keep(binding, forDynamic: name)
    return binding
  }

  /// The row of a managed object as a dynamic one.
  func dynamicObject(for object: ObjectBase) -> DynamicObject {
    if object._isInvalidated { object._trapInvalid() }
    return dynamicObject(ObjectKey(object._key), dynamicBinding(object._className))
  }

  func dynamicObject(_ key: ObjectKey, _ binding: ClassBinding) -> DynamicObject {
    unsafe unsafeDowncast(object(key, binding), to: DynamicObject.self)
  }

  func binding(of spec: QuerySpec) -> ClassBinding {
    spec.dynamicClass.map { dynamicBinding($0) } ?? binding(of: spec.type)
  }

  /// The binding of a managed object's class in the current schema.
  func binding(for object: ObjectBase) -> ClassBinding {
    object is DynamicObject
      ? dynamicBinding(object._binding!.reflection.name) : binding(of: type(of: object))
  }

  // MARK: - Values

  func column(of property: PropertyReflection, in binding: ClassBinding) -> ColumnID {
    guard let column = binding.column(property.name) else {
      trap(
        "Class '\(binding.reflection.name)' no longer has the property '\(property.name)': a "
          + "migration removed it. Fetch the object again.")
    }
    return column
  }
}
