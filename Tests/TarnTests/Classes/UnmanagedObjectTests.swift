import Foundation
import Testing

@testable import Tarn

@Suite struct UnmanagedObjectTests {
  @Test func propertiesWithoutValuesHaveTheirTypesDefaults() {
    let object = ModelEverything()
    #expect(object.int == 0)
    #expect(object.int8 == 0)
    #expect(object.int32 == 0)
    #expect(object.int64 == 0)
    #expect(object.bool == false)
    #expect(object.float == 0)
    #expect(object.data == Data())
    #expect(object.date == Date(timeIntervalSince1970: 0))
    #expect(object.mood == .calm)
    #expect(object.grade == .low)
    #expect(object.optionalInt == nil)
    #expect(object.optionalString == nil)
    #expect(object.link == nil)
    #expect(object.optionalMood == nil)
    #expect(object.optionalId == nil)
    #expect(object.optionalDate == nil)
    #expect(object.linking.isEmpty)
  }

  @Test func propertiesWithValuesHaveThem() {
    let object = ModelEverything()
    #expect(object.int16 == -3)
    #expect(object.double == 2.5)
    #expect(object.string == "text")
    #expect(object.size == .large)
    #expect(object.optionalInt8 == 8)
  }

  @Test func eachObjectGetsIdentifiersOfItsOwnThatStay() {
    let first = ModelEverything()
    let second = ModelEverything()
    #expect(first._id != second._id)
    #expect(first.uuid != second.uuid)
    #expect(first._id == first._id)
    #expect(first.uuid == first.uuid)
  }

  @Test func propertiesKeepWhatIsAssigned() {
    let object = ModelEverything()
    let other = ModelEverything()
    object.int += 5
    object.string.append("!")
    object.optionalInt8 = nil
    object.optionalMood = .wild
    object.link = other
    object.link?.link = object
    #expect(object.int == 5)
    #expect(object.string == "text!")
    #expect(object.optionalInt8 == nil)
    #expect(object.optionalMood == .wild)
    #expect(object.link === other)
    #expect(other.link === object)
    object.link = nil
    other.link = nil
    #expect(object.link == nil)
  }

  @Test func objectsAreEqualOnlyToThemselves() {
    let first = ModelDog()
    let second = ModelDog()
    #expect(first == first)
    #expect(first != second)
    #expect(first.isSameObject(as: first))
    #expect(!first.isSameObject(as: second))
    #expect(Set([first, second, first]).count == 2)
    #expect(!first.isInvalidated)
  }

  @Test func descriptionsShowPropertiesAndLinkedObjects() {
    let dog = ModelDog()
    dog.name = "Rex"
    dog.favouriteToy = ModelToy()
    dog.favouriteToy?.color = "red"
    dog.nickname = "R"
    let text = dog.description
    #expect(text.hasPrefix("ModelDog {\n\t_id = 0;\n\tname = Rex;\n"))
    #expect(text.contains("\tfavouriteToy = ModelToy {\n\t\tcolor = red;\n\t\tprice = (null);"))
    #expect(text.contains("\tnickname = R;\n"))
    #expect(text.hasSuffix("}"))
    dog.mother = dog
    #expect(dog.description.contains("mother = <Maximum depth exceeded>;"))
    dog.mother = nil
  }

  @Test func propertiesTakeValuesOfRelatedTypes() throws {
    let object = ModelEverything()
    func set(_ name: String, _ value: Any) -> Realm.InvalidValue.Reason? {
      var reader = ValueReader(.taken, nil, keepsRefused: false)
      do throws(Realm.InvalidValue) {
        let property = ClassReflection.of(ModelEverything.self).property(name)!
        let given = try reader.read(value, for: property, of: object)
        try reader.set(property, of: object, given)
        return nil
      } catch {
        return error.reason
      }
    }
    for (name, value) in [
      ("int8", 5), ("mood", "wild"), ("optionalInt", 7), ("optionalMood", ModelMood.wild),
      ("double", 3), ("link", object),
    ] as [(String, Any)] {
      #expect(set(name, value) == nil)
    }
    #expect(object.int8 == 5)
    #expect(object.mood == .wild)
    #expect(object.optionalInt == 7)
    #expect(object.optionalMood == .wild)
    #expect(object.double == 3)
    #expect(object.link === object)
    #expect(set("int8", 500) == .outOfRange)
    #expect(set("mood", "none") == .refused)
    #expect(set("string", 1) == .wrongType)
    #expect(set("link", ModelDog()) == .wrongType)
    #expect(object.int8 == 5)
    #expect(object.mood == .wild)
    object.link = nil
  }

  @Test func enumsCompareByRawValue() {
    #expect(ModelSize.small < .large)
    #expect(ModelMood.calm < .wild)
  }
}
