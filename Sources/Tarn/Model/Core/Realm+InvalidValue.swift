public import Foundation
import TarnStore

extension Realm {
  /// The reason why an object cannot be made from external values, thrown by
  /// ``Realm/create(_:checking:update:unknownKeys:)``: which property of which class cannot have
  /// which value, and the place of that value in the input. In calls that do not throw, its
  /// description is the message of the trap.
  public struct InvalidValue: Swift.Error, Equatable, Sendable, CustomStringConvertible,
    LocalizedError
  {
    /// The problem with the value.
    public enum Reason: Sendable, CaseIterable {
      /// The property has a different type.
      case wrongType
      /// The property is numeric but cannot hold this number: it is out of range, or has a fraction
      /// where only whole numbers fit.
      case outOfRange
      /// The type is an enum without such a case, or a custom type that refuses the value.
      case refused
      /// The value is nil or absent, and the property is not optional.
      case missing
      /// The class has no property of that name that can be set.
      case unknownKey
      /// An array has more values than the class has properties.
      case tooManyValues
      /// Lists and maps, or collections of Foundation's, are nested more than a hundred levels
      /// deep, or one of them or an embedded object contains itself. Or the whole input is nested
      /// more than 500 levels deep, objects in dictionaries included.
      case tooDeep
      /// An object with that primary key exists already, and the update policy is `.error`.
      case duplicatePrimaryKey
      /// An object or a collection has been deleted or invalidated, or belongs to a Realm of
      /// another thread, queue or actor.
      case unreadable
      /// A collection has more elements than the limit.
      case tooManyElements
    }

    /// The maximum number of elements that a collection is made from: some of Swift's collections,
    /// such as a range, have more than fit in memory.
    static let elementsMax = 100_000_000

    /// The problem with the value.
    public let reason: Reason
    /// The class of the object that the value was for.
    public let className: String
    /// The name of the property, or the unknown key; nil if the value is a whole object.
    public let propertyName: String?
    /// The path of the value within the input, such as `dogs[2].owner.name`; empty for the whole
    /// input.
    public let path: String
    /// The value as text, shortened; nil if there is none.
    public let value: String?
    /// The Swift name of the value's type; nil if there is no value.
    public let valueType: String?

    init(
      _ reason: Reason, _ className: String, _ propertyName: String?, path: String = "",
      value: ShownValue
    ) {
      self.reason = reason
      self.className = className
      self.propertyName = propertyName
      self.path = path
      self.value = value.text
      valueType = value.type
    }

    public var errorDescription: String? { description }
    public var description: String {
      let location =
        path.isEmpty || path == propertyName
        ? "" : " It is given at '\(ShownValue.ends(of: path))'."
      return "\(statement)\(location)"
    }

    private var statement: String {
      let name = propertyName.map { ShownValue.ends(of: $0) }
      let property = name.map { "'\(className).\($0)'" } ?? "'\(className)'"
      let value = value.map { "'\($0)' of type '\(valueType ?? "")'" } ?? "nil"
      let invalid = "Invalid value \(value) for property \(property)."
      switch reason {
      case .wrongType where propertyName == nil:
        return "Objects of \(property) are made from a dictionary, an array or an object, not from "
          + "a '\(valueType ?? "nil")'."
      case .wrongType: return invalid
      case .outOfRange: return "\(invalid) The number does not fit the property's type."
      case .refused: return "\(invalid) The property's type has no such value."
      case .missing: return "\(invalid) The property is not optional."
      case .unknownKey: return "Class '\(className)' has no property '\(name ?? "")'."
      case .tooManyValues:
        return "\(self.value ?? "") of '\(className)'."
      case .tooDeep:
        return "\(invalid) Lists and maps may be up to 100 deep and must not contain themselves."
      case .unreadable:
        return "\(invalid) It has been deleted or invalidated, or belongs to another thread."
      case .tooManyElements:
        return "\(invalid) A collection can have at most \(Self.elementsMax) elements."
      case .duplicatePrimaryKey:
        return "Attempting to create an object of type '\(className)' with an existing primary key "
          + "value '\(self.value ?? "nil")'. Pass update: .modified to change that object."
      }
    }
  }
}
